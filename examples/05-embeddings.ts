// Run it: node_modules/.bin/node examples/05-embeddings.ts
//
// Remembered facts are found by their words. With an embedder, which a plugin provides, they are also found by meaning.
// This embedder knows three ideas; a real one would use a local model, for example MiniLM with @xenova/transformers.

import { createApp, definePlugin, type Embedder, type Model } from 'tireless'

const IDEAS = [/car|automobile|vehicle/i, /key|password/i, /breakfast|lunch|dinner/i]

const embedder: Embedder = {
  name: 'three ideas',
  embed: async (texts) => texts.map((text) => IDEAS.map((idea) => (idea.test(text) ? 1 : 0))),
}

const embeddings = definePlugin({
  name: 'embeddings',
  needs: ['embedders'],
  setup: (host) => void host.get('embedders').push(embedder),
})

// Remembers two facts, then answers.
const FACTS = { parking: 'The automobile stands behind the house', food: 'Breakfast is at seven' }
const model: Model = {
  id: 'example/notes',
  async call({ messages }) {
    const noted = messages.some(({ role }) => role === 'tool')
    const calls = Object.entries(FACTS).map(([key, text]) => ({
      id: key,
      tool: 'remember',
      args: JSON.stringify({ key, text }),
    }))
    const usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }
    return noted ? { text: 'noted', calls: [], finish: 'stop', usage } : { text: '', calls, finish: 'calls', usage }
  },
}

const app = await createApp({ home: process.env.TIRELESS_HOME ?? './.tireless', model, plugins: [embeddings] })
await app.run('run', { task: 'Note where the car is, and when breakfast is.' })
const found = await app.run('memory search', { query: 'how do we get to our vehicle?' })
console.log(found.items.map(({ key }) => key).join(', '))
await app.close()
