import { definePlugin, type ModelProvider } from 'tireless'

/** Answers with the words of the last message in reverse; a real one would send the request somewhere. */
const echo: ModelProvider = {
  name: 'echo',
  models: ['reverse', 'shout'],
  open: (model) => ({
    price: { input: 0, output: 0, max_output: 1000 },
    async call({ messages }, { signal, onText }) {
      signal.throwIfAborted()
      const words = (messages.at(-1)?.text ?? '').split(' ')
      const text = model === 'shout' ? words.join(' ').toUpperCase() : words.reverse().join(' ')
      onText?.(text)
      const usage = { input_tokens: words.length, output_tokens: words.length, cached_tokens: 0 }
      return { text, calls: [], finish: 'stop', usage }
    },
  }),
}

export default definePlugin({
  name: 'echo models',
  needs: ['modelProviders'],
  setup: (host) => host.get('modelProviders').add(echo),
})
