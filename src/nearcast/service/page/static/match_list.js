// A list of matches, newest first; it holds still while one looks at it closely.
const MOST = 100;

export default {
  template: `
    <div class="match-list" @mouseenter="hold" @mouseleave="release" @focusin="hold" @focusout="left">
      <button v-if="waiting.length" type="button" class="waiting" @click="release">
        {{ waiting.length }} new
      </button>
      <div class="scroll">
        <ol aria-label="Matches, newest first">
          <li v-for="match in matches" :key="match.id">
            <button type="button" :class="{ chosen: match.id === chosen }" @click="choose(match)">
              <span class="swatch" :style="{ background: match.colour }"></span>
              <span class="said">{{ match.text }}</span>
              <span class="about">{{ match.subscription }} · {{ when(match.time) }}</span>
            </button>
          </li>
        </ol>
        <p v-if="!matches.length" class="empty">{{ empty }}</p>
      </div>
    </div>`,
  props: { empty: String },
  data: () => ({ matches: [], waiting: [], isHeld: false, chosen: null }),
  methods: {
    add(matches) {
      this.waiting = [...matches, ...this.waiting].slice(0, MOST);
      if (!this.isHeld || !this.matches.length) this.show();
    },
    forget(subscription) {
      const others = (match) => match.subscription !== subscription;
      this.matches = this.matches.filter(others);
      this.waiting = this.waiting.filter(others);
    },
    unchoose() {
      this.chosen = null;
    },
    choose(match) {
      this.chosen = match.id;
      this.$emit("choose", match.id);
    },
    hold() {
      this.isHeld = true;
    },
    left(event) {
      if (!this.$el.contains(event.relatedTarget) && !this.$el.matches(":hover")) this.release();
    },
    release() {
      this.isHeld = false;
      this.show();
    },
    show() {
      if (!this.waiting.length) return;
      this.matches = [...this.waiting, ...this.matches].slice(0, MOST);
      this.waiting = [];
    },
    when(time) {
      const date = new Date(1000 * time);
      const isToday = date.toDateString() === new Date().toDateString();
      return isToday ? date.toLocaleTimeString() : date.toLocaleString();
    },
  },
};
