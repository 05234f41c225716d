// The live map: Leaflet, and one canvas for all messages.  Python says what to show.
import { leaflet as L } from "nicegui-leaflet";
import { colourOf, MessageCanvas } from "nearcast-page/message_canvas.js";

const VIEW = "nearcast-view";
const TILE_ERRORS = 6;
const GLIDE = 950; // milliseconds in which a circle goes to where it is now
const ENOUGH = 30; // messages to tell where messages are

export default {
  template: `<div class="live-map" role="application" aria-label="Map of messages"></div>`,
  props: { tiles: String, shapes: Array, draft: Object, bounds: Array, resourcePath: String },
  async mounted() {
    await this.$nextTick(); // for window.path_prefix
    const files = window.path_prefix + this.resourcePath;
    window.L = L; // leaflet.draw expects it
    await Promise.all([
      load("link", { rel: "stylesheet", href: `${files}/leaflet/leaflet.css` }),
      load("link", { rel: "stylesheet", href: `${files}/leaflet-draw/leaflet.draw.css` }),
      load("script", { src: `${files}/leaflet-draw/leaflet.draw.js` }),
    ]);
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.map = L.map(this.$el, { worldCopyJump: true, zoomControl: false, minZoom: 2 });
    this.canvas = new MessageCanvas(this.map, this.calm);
    this.setUp();
    this.addTiles();
    this.showShapes();
    this.showDraft();
    this.canvas.start();
    this.$el.dataset.ready = "yes";
  },
  beforeUnmount() {
    clearTimeout(this.telling);
    this.canvas?.stop();
    this.resizing?.disconnect();
    this.map?.remove();
  },
  watch: { shapes: "showShapes", draft: "showDraft" },
  methods: {
    setUp() {
      this.map.attributionControl.setPrefix(false);
      L.control.zoom({ position: "topleft" }).addTo(this.map);
      L.control.scale({ position: "bottomright", imperial: false }).addTo(this.map);
      this.addFitButton();
      this.shapeLayer = L.featureGroup().addTo(this.map);
      this.drawn = new Map(); // by key: the layer of a shape
      this.draftLayer = L.layerGroup().addTo(this.map);
      const seen = remembered();
      if (seen) this.map.setView([seen.lat, seen.lng], seen.zoom);
      else if (!this.fit()) this.map.setView([25, 10], 2);
      this.isFitted = Boolean(seen || this.bounds);
      this.map.on("dragstart", () => (this.isFitted = true));
      this.map.on("moveend", () => this.isFitted && remember(this.map));
      this.map.on("click", (event) => this.tool || this.tell(event));
      this.map.on("mousemove", () => this.drawing());
      this.map.on("draw:created", ({ layer }) => this.$emit("drawn", asText(layer)));
      this.map.on("draw:drawstop", () => this.stopped());
      this.resizing = new ResizeObserver(() => this.map.invalidateSize());
      this.resizing.observe(this.$el);
    },
    addFitButton() {
      const control = L.control({ position: "topleft" });
      control.onAdd = () => {
        const bar = L.DomUtil.create("div", "leaflet-bar");
        const button = L.DomUtil.create("a", "fit-button", bar);
        Object.assign(button, { href: "#", title: "Show everything", textContent: "⤢" });
        button.setAttribute("role", "button");
        button.setAttribute("aria-label", "Show everything");
        L.DomEvent.on(button, "click", (event) => {
          L.DomEvent.stop(event);
          this.fit();
        });
        return bar;
      };
      control.addTo(this.map);
    },
    // Where messages are, or were when the page was opened, or else the subscriptions.
    fit() {
      const places = this.canvas.dots.map((dot) => dot.at);
      let bounds = L.latLngBounds(places.length ? places : (this.bounds ?? []));
      if (!bounds.isValid()) bounds = this.shapeLayer.getBounds();
      if (bounds.isValid()) this.map.fitBounds(bounds, { padding: [24, 24], maxZoom: 15 });
      return bounds.isValid();
    },

    // -------------------------------------------------------------- tiles, where there are any

    addTiles() {
      if (!this.tiles) return;
      // One tile is tried first, so that without a network there is one error and not hundreds.
      const trial = new Image();
      trial.onload = () => this.map && this.useTiles();
      trial.src = L.Util.template(this.tiles, { s: "a", z: 0, x: 0, y: 0, r: "" });
    },
    useTiles() {
      let errors = 0;
      const isOpenStreetMap = this.tiles.includes("openstreetmap.org");
      const attribution = isOpenStreetMap
        ? '© <a href="https://openstreetmap.org/copyright">OpenStreetMap</a> contributors'
        : "";
      const layer = L.tileLayer(this.tiles, { maxZoom: 19, attribution });
      layer.on("tileload", () => (errors = 0));
      layer.on("tileerror", () => {
        errors += 1;
        if (errors >= TILE_ERRORS && this.map.hasLayer(layer)) {
          this.canvas.hasGrid = true;
          layer.remove();
        }
      });
      this.canvas.hasGrid = false;
      layer.addTo(this.map);
    },

    // -------------------------------------------------------------- shapes

    showShapes() {
      if (!this.map) return;
      const shapes = new Map((this.shapes ?? []).map((shape) => [shape.key, shape]));
      for (const [key, { layer, shape }] of this.drawn) {
        const next = shapes.get(key);
        if (next && next.kind === "circle" && canGlide(shape, next)) {
          this.glide(layer, next);
          this.drawn.set(key, { layer, shape: next });
          shapes.delete(key);
        } else {
          this.shapeLayer.removeLayer(layer);
          this.drawn.delete(key);
        }
      }
      for (const [key, shape] of shapes) {
        const style = { color: shape.colour, weight: 2, fillOpacity: 0.09, interactive: false };
        const layer = layerOf(shape, style);
        const name = document.createElement("span");
        name.textContent = shape.name;
        name.style.setProperty("--colour", shape.colour);
        const offset = shape.kind === "point" ? [0, -8] : [0, 0]; // not over the point itself
        layer.bindTooltip(name, { permanent: true, direction: "top", className: "shape-name", offset });
        layer.addTo(this.shapeLayer);
        nameAbove(layer);
        this.drawn.set(key, { layer, shape });
      }
      if (!this.isFitted) this.fit();
    },
    // A circle goes where it is now in about the time until it moves again.
    glide(layer, shape) {
      const [lng, lat, radius] = shape.at;
      const begin = layer.getLatLng();
      const start = performance.now();
      const steps = this.calm || document.hidden ? 1 : GLIDE;
      layer.target = shape;
      const step = (time) => {
        if (layer.target !== shape || !this.shapeLayer.hasLayer(layer)) return;
        const share = Math.min(1, steps === 1 ? 1 : (time - start) / steps);
        layer.setRadius(radius);
        layer.setLatLng([begin.lat + share * (lat - begin.lat), begin.lng + share * (lng - begin.lng)]);
        nameAbove(layer);
        if (share < 1) requestAnimationFrame(step);
      };
      step(start);
    },
    showDraft() {
      if (!this.map) return;
      this.draftLayer.clearLayers();
      if (this.draft) layerOf(this.draft, this.draftStyle()).addTo(this.draftLayer);
    },
    draftStyle() {
      const color = colourOf(this.$el, "--accent");
      return { color, weight: 2, dashArray: "6 5", fillOpacity: 0.12, interactive: false };
    },
    show(shape) {
      const layer = layerOf(shape, {}).addTo(this.shapeLayer);
      this.map.fitBounds(boundsOf(layer), { padding: [40, 40], maxZoom: shape.kind === "point" ? 14 : 16 });
      layer.remove();
      this.reveal();
    },

    // -------------------------------------------------------------- drawing

    draw(kind) {
      const before = this.tool;
      this.tool = null; // it does not stop, another one takes over
      before?.disable();
      const tools = {
        box: L.Draw.Rectangle,
        circle: L.Draw.Circle,
        polygon: L.Draw.Polygon,
        point: L.Draw.CircleMarker,
      };
      // showArea would run into an old mistake of leaflet.draw.
      const options = { shapeOptions: this.draftStyle(), showArea: false, showLength: false };
      this.draftLayer.clearLayers();
      this.reveal();
      this.tool = new tools[kind](this.map, options);
      this.tool.enable();
      this.$el.focus({ preventScroll: true });
    },
    cancel() {
      this.tool?.disable();
    },
    stopped() {
      if (!this.tool) return;
      this.tool = null;
      this.showDraft();
      this.$emit("stopped");
    },
    // Now and then, and once more when the mouse rests.
    drawing() {
      if (!this.tool || this.telling) return;
      this.telling = setTimeout(() => {
        this.telling = null;
        const layer = this.tool?._shape ?? this.tool?._poly;
        if (!layer || (this.tool._poly && this.tool._markers.length < 3)) return;
        this.$emit("drawing", asText(layer));
      }, 250);
    },

    // -------------------------------------------------------------- messages

    tick(messages, matches) {
      if (!this.canvas) return;
      this.canvas.add(messages, matches);
      if (this.isFitted) return;
      this.fit();
      this.isFitted = this.canvas.dots.length >= ENOUGH;
    },
    select(lon, lat) {
      const at = [lat, lon];
      const animate = !this.calm;
      this.canvas.selected = at;
      if (this.map.getZoom() < 12) this.map.setView(at, 13, { animate });
      // No further than needed, but not below the card that explains.
      const below = [40, Math.min(240, this.map.getSize().y / 2)];
      const paddings = { paddingTopLeft: [40, 40], paddingBottomRight: below };
      this.map.panInside(at, { ...paddings, animate });
      this.reveal();
    },
    deselect() {
      this.canvas.selected = null;
    },
    tell(event) {
      const dot = this.canvas.nearest(event.containerPoint);
      if (!dot) return;
      const said = document.createElement("span");
      said.textContent = dot.text;
      L.popup({ maxWidth: 260 }).setLatLng(dot.at).setContent(said).openOn(this.map);
    },
    reveal() {
      this.$el.scrollIntoView({ block: "nearest", behavior: this.calm ? "auto" : "smooth" });
    },
  },
};

function load(tag, attributes) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.onload = resolve;
    element.onerror = reject;
    document.head.append(element);
  });
}

function layerOf(shape, style) {
  const at = shape.at;
  if (shape.kind === "point") return L.circleMarker([at[1], at[0]], { radius: 7, ...style, fillOpacity: 0.6 });
  if (shape.kind === "circle") return L.circle([at[1], at[0]], { radius: at[2], ...style });
  if (shape.kind === "polygon") return L.polygon(at.map((ring) => ring.map(flipped)), style);
  const east = at[2] < at[0] ? at[2] + 360 : at[2]; // across the antimeridian
  return L.rectangle([[at[1], at[0]], [at[3], east]], style);
}

function boundsOf(layer) {
  return layer.getBounds?.() ?? L.latLngBounds([layer.getLatLng()]);
}

function nameAbove(layer) {
  const bounds = boundsOf(layer);
  layer.getTooltip().setLatLng([bounds.getNorth(), bounds.getCenter().lng]);
}

// Not across the antimeridian, nor into another colour.
function canGlide(from, to) {
  return from.kind === to.kind && from.colour === to.colour && Math.abs(from.at[0] - to.at[0]) < 180;
}

const flipped = ([lon, lat]) => [lat, lon];

// What a person could have typed: west, south, east, north; or lon, lat, metres; lon, lat; or a ring.
function asText(layer) {
  if (layer instanceof L.Circle) {
    const centre = layer.getLatLng().wrap();
    return [...degrees(centre.lng, centre.lat), Math.max(1, Math.round(layer.getRadius()))].join(", ");
  }
  if (layer instanceof L.CircleMarker) {
    const at = layer.getLatLng().wrap();
    return degrees(at.lng, at.lat).join(", ");
  }
  if (layer instanceof L.Rectangle) {
    const bounds = layer.getBounds();
    const corners = [bounds.getSouthWest().wrap(), bounds.getNorthEast().wrap()];
    return corners.flatMap((corner) => degrees(corner.lng, corner.lat)).join(", ");
  }
  const ring = layer.getLatLngs().flat().map((corner) => corner.wrap());
  return ring.flatMap((corner) => degrees(corner.lng, corner.lat)).join(", ");
}

const degrees = (lon, lat) => [lon.toFixed(5), lat.toFixed(5)];

function remembered() {
  try {
    const seen = JSON.parse(localStorage.getItem(VIEW));
    return [seen?.lat, seen?.lng, seen?.zoom].every(Number.isFinite) ? seen : null;
  } catch {
    return null;
  }
}

function remember(map) {
  try {
    const view = { ...map.getCenter(), zoom: map.getZoom() };
    localStorage.setItem(VIEW, JSON.stringify(view));
  } catch {
    // a browser may forbid it; then the next visit begins anew
  }
}
