// Those who move, each with the messages around: what has just entered, and what has just left.
export default {
  template: `
    <div class="best-lists">
      <section v-for="walk in walks" :key="walk.name" class="best-list walk" :aria-label="walk.name">
        <header>
          <span class="swatch" :style="{ background: walk.colour }"></span>
          <button type="button" class="text" :title="walk.about" @click="$emit('locate', walk.name)">
            <span class="name">{{ walk.name }} <span class="count">{{ walk.count }}</span></span>
            <span class="words">{{ walk.about }}</span>
          </button>
          <button type="button" class="remove" :aria-label="'Remove ' + walk.name"
                  @click="$emit('remove', walk.name)">×</button>
        </header>
        <ul :aria-label="'Around ' + walk.name">
          <li v-for="item in walk.items" :key="item.id" :class="item.change">
            <button type="button" @click="$emit('choose', [walk.name, item.id])">
              <span class="sign" :aria-label="item.change">{{ { entered: "+", left: "−" }[item.change] }}</span>
              <span class="said">{{ item.text }}</span>
            </button>
          </li>
        </ul>
        <p v-if="!walk.items.length" class="empty">Nothing around with these words.</p>
      </section>
      <p v-if="!walks.length" class="empty">{{ empty }}</p>
    </div>`,
  props: { walks: Array, empty: String },
};
