import { definePlugin, type Memory, type MemoryKind } from 'tireless'

/** Stands for an index of your own: a vector store, a wiki, a database. */
async function searchNotes(text: string): Promise<readonly string[]> {
  const notes = ['The office closes at six.', 'The printer is on the second floor.']
  return notes.filter((note) => note.split(/\W+/).some((word) => word.length > 4 && text.includes(word.toLowerCase())))
}

const notes: MemoryKind = {
  name: 'notes',
  open(): Memory {
    const shown = new Set<string>()
    return {
      reset: () => shown.clear(),
      append() {},
      async retrieve({ text, input = [] }) {
        const found = input.length === 0 ? [] : await searchNotes(text.toLowerCase())
        const fresh = found.filter((note) => !shown.has(note))
        for (const note of fresh) shown.add(note)
        const label = { trust: 'trusted', private: false } as const
        return { from: 0, summary: '', recalled: [], messages: fresh.map((note) => ({ text: note, label })) }
      },
      evict: () => 0,
    }
  },
}

export default definePlugin({
  name: 'notes',
  needs: ['memories'],
  setup: (host) => host.get('memories').add(notes),
})
