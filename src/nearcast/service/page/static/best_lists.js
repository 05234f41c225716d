// The lists of top-k subscriptions, each best first; what has just entered is marked.
export default {
  template: `
    <div class="best-lists">
      <section v-for="list in lists" :key="list.name" class="best-list" :aria-label="list.name">
        <header>
          <span class="swatch" :style="{ background: list.colour }"></span>
          <button type="button" class="text" :title="list.about" @click="$emit('locate', list.name)">
            <span class="name">{{ list.name }}</span>
            <span class="words">{{ list.about }}</span>
          </button>
          <button type="button" class="remove" :aria-label="'Remove ' + list.name"
                  @click="$emit('remove', list.name)">×</button>
        </header>
        <ol :aria-label="list.name + ', best first'">
          <li v-for="(item, place) in list.items" :key="item.id" :class="{ entered: item.entered }">
            <button type="button" @click="$emit('choose', [list.name, item.id])">
              <span class="place">{{ place + 1 }}</span>
              <span class="said">{{ item.text }}<span v-if="item.entered" class="new">new</span></span>
              <span class="score" title="score, at most 1">{{ item.score.toFixed(3) }}</span>
            </button>
          </li>
        </ol>
        <p v-if="!list.items.length" class="empty">No recent message has one of its words.</p>
      </section>
      <p v-if="!lists.length" class="empty">{{ empty }}</p>
    </div>`,
  props: { lists: Array, empty: String },
};
