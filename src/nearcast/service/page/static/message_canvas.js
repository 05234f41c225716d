// One canvas for all messages on the map: they fade, matches glow; and a grid where no tiles are.
import { leaflet as L } from "nicegui-leaflet";

const FADE = 9000; // milliseconds that a message is seen
const GLOW = 25000; // and a match
const WAVE = 1600; // and the ring around a new match
const MOST = 3000; // dots at a time
const SPREAD = 500; // what comes in one push appears over so long
const FRAME = 33; // 30 a second are enough
const REACH = 12; // pixels from a click to what is meant
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 45];

export class MessageCanvas {
  constructor(map, isCalm) {
    this.map = map;
    this.isCalm = isCalm;
    this.hasGrid = true;
    this.selected = null;
    this.dots = [];
    this.drawn = 0;
    map.createPane("messages").style.cssText = "z-index:450;pointer-events:none";
    this.canvas = L.DomUtil.create("canvas", "leaflet-zoom-hide", map.getPane("messages"));
    this.pen = this.canvas.getContext("2d");
  }

  start() {
    this.next = requestAnimationFrame((time) => {
      if (time - this.drawn >= FRAME) this.draw(time);
      this.start();
    });
  }

  stop() {
    cancelAnimationFrame(this.next);
  }

  add(messages, matches) {
    const now = performance.now();
    for (const [lon, lat, text] of messages)
      this.dots.push({ at: [lat, lon], text, born: now + Math.random() * SPREAD, life: FADE });
    for (const { lon, lat, text, colour } of matches)
      this.dots.push({ at: [lat, lon], text, colour, born: now, life: GLOW });
    if (this.dots.length > MOST) this.dots.splice(0, this.dots.length - MOST);
  }

  // The dot that a click means, if any.
  nearest(point) {
    let [found, least] = [null, REACH];
    for (const dot of this.dots) {
      const far = point.distanceTo(this.place(dot.at));
      if (far < least) [found, least] = [dot, far];
    }
    return found;
  }

  draw(time) {
    this.drawn = time;
    const size = this.fitCanvas();
    const colours = Object.fromEntries(
      ["surface", "text", "muted", "grid", "dot"].map((name) => [name, this.colour(name)]),
    );
    if (this.hasGrid) this.drawGrid(size, colours);
    this.dots = this.dots.filter((dot) => time < dot.born + dot.life);
    for (const dot of this.dots) if (!dot.colour) this.drawMessage(dot, time, colours.dot);
    for (const dot of this.dots) if (dot.colour) this.drawMatch(dot, time, colours.surface);
    this.pen.globalAlpha = 1;
    if (this.selected) {
      this.ring(this.place(this.selected), 13, colours.surface, 6);
      this.ring(this.place(this.selected), 13, colours.text, 2.5);
    }
  }

  fitCanvas() {
    const size = this.map.getSize();
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(size.x * scale), Math.round(size.y * scale)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      Object.assign(this.canvas, { width, height });
      Object.assign(this.canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
    }
    L.DomUtil.setPosition(this.canvas, this.map.containerPointToLayerPoint([0, 0]));
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, size.x, size.y);
    return size;
  }

  drawMessage(dot, time, colour) {
    const age = (time - dot.born) / dot.life;
    if (age < 0) return;
    this.pen.globalAlpha = 0.75 * (1 - age);
    this.disc(this.place(dot.at), age < 0.03 && !this.isCalm ? 4.5 : 3, colour);
  }

  drawMatch(dot, time, rim) {
    const age = Math.max(0, time - dot.born);
    const place = this.place(dot.at);
    if (age < WAVE && !this.isCalm) {
      this.pen.globalAlpha = 0.8 * (1 - age / WAVE);
      this.ring(place, 6 + (26 * age) / WAVE, dot.colour, 2.5);
    }
    this.pen.globalAlpha = Math.min(1, 1.6 * (1 - age / dot.life));
    this.disc(place, 6.2, rim);
    this.disc(place, 4.8, dot.colour);
  }

  // A few lines of longitude and latitude tell where one is.
  drawGrid(size, colours) {
    const bounds = this.map.getBounds();
    const width = bounds.getEast() - bounds.getWest();
    const step = STEPS.find((each) => (size.x * each) / width >= 110) ?? STEPS.at(-1);
    const digits = step < 1 ? String(step).length - 2 : 0;
    const pen = this.pen;
    pen.globalAlpha = 1;
    pen.lineWidth = 1;
    pen.strokeStyle = colours.grid;
    pen.fillStyle = colours.muted;
    pen.font = "11px system-ui, sans-serif";
    pen.beginPath();
    for (const lon of multiples(step, bounds.getWest(), bounds.getEast())) {
      const x = Math.round(this.place([0, lon]).x) + 0.5;
      pen.moveTo(x, 0);
      pen.lineTo(x, size.y);
      pen.fillText(`${lon.toFixed(digits)}°`, x + 4, size.y - 6);
    }
    const [south, north] = [Math.max(-85, bounds.getSouth()), Math.min(85, bounds.getNorth())];
    for (const lat of multiples(step, south, north)) {
      const y = Math.round(this.place([lat, bounds.getWest()]).y) + 0.5;
      pen.moveTo(0, y);
      pen.lineTo(size.x, y);
      // Lower down is the scale.
      if (y < size.y - 70) pen.fillText(`${lat.toFixed(digits)}°`, size.x - 48, y - 4);
    }
    pen.stroke();
  }

  disc(place, radius, colour) {
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.arc(place.x, place.y, radius, 0, 2 * Math.PI);
    this.pen.fill();
  }

  ring(place, radius, colour, width) {
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = width;
    this.pen.beginPath();
    this.pen.arc(place.x, place.y, radius, 0, 2 * Math.PI);
    this.pen.stroke();
  }

  place(at) {
    return this.map.latLngToContainerPoint(at);
  }

  colour(name) {
    return colourOf(this.canvas, `--${name}`);
  }
}

// A colour of the style sheet, which knows of light and dark.
export function colourOf(element, name) {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

function multiples(step, from, to) {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}
