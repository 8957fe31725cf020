import { definePlugin, type Parser } from 'tireless'

/** A line `!tool {"argument": 1}` is a call; any other text is the answer. */
const lines: Parser = {
  name: 'lines',
  instructions: (tools) =>
    [
      'To call a tool, write one line per call: !NAME ARGUMENTS, with the arguments as JSON. The tools:',
      ...tools.map(({ name, description, parameters }) => `!${name} ${JSON.stringify(parameters)}: ${description}`),
      'To answer, write the answer without such a line.',
    ].join('\n'),
  parse(text) {
    const calls = [...text.matchAll(/^!(\w+) ?(.*)$/gm)].map(([, tool = '', args = ''], i) => ({
      id: `call_${i}`,
      tool,
      args: args.trim() || '{}',
    }))
    const unreadable = calls.find(({ args }) => !args.startsWith('{'))
    if (unreadable) return { kind: 'fault', reason: `write the arguments of ${unreadable.tool} as a JSON object` }
    return { kind: 'said', text: calls.length === 0 ? text.trim() : '', calls }
  },
}

export default definePlugin({
  name: 'lines',
  needs: ['parsers'],
  setup: (host) => host.get('parsers').add(lines),
})
