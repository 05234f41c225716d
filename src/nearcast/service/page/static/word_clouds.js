// Terms that are talked about: the larger the more, in the order of the alphabet, so that they stay.
export default {
  template: `
    <div class="best-lists">
      <section v-for="cloud in clouds" :key="cloud.name" class="best-list" :aria-label="cloud.name">
        <header>
          <span class="swatch" :style="{ background: cloud.colour }"></span>
          <button type="button" class="text" :title="cloud.about" @click="$emit('locate', cloud.name)">
            <span class="name">{{ cloud.name }}</span>
            <span class="words">{{ cloud.about }}</span>
          </button>
          <button type="button" class="remove" :aria-label="'Remove ' + cloud.name"
                  @click="$emit('remove', cloud.name)">×</button>
        </header>
        <ul v-if="cloud.terms.length" class="cloud" :aria-label="cloud.name + ', the larger the more'">
          <li v-for="each in sorted(cloud.terms)" :key="each.term" :class="each.change"
              :style="{ fontSize: size(each, cloud.terms) + 'px', color: cloud.colour }"
              :title="'place ' + each.place + ', score ' + each.score.toPrecision(3)">
            <span class="term">{{ each.term }}</span><span v-if="each.change" class="change">{{
              { entered: "new", up: "▲", down: "▼" }[each.change] }}</span>
          </li>
        </ul>
        <p v-if="cloud.gone.length" class="gone">gone: <s v-for="term in cloud.gone" :key="term">{{ term }}</s></p>
        <p v-if="!cloud.terms.length" class="empty">Nothing is said here yet.</p>
      </section>
      <p v-if="!clouds.length" class="empty">{{ empty }}</p>
    </div>`,
  props: { clouds: Array, empty: String },
  methods: {
    sorted: (terms) => [...terms].sort((a, b) => (a.term < b.term ? -1 : 1)),
    // Areas are as scores.
    size(each, terms) {
      const most = Math.max(...terms.map((other) => other.score));
      return Math.round(13 + 23 * Math.sqrt(Math.max(0, each.score / (most || 1))));
    },
  },
};
