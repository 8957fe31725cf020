/** Writes the folder of a new plugin: manifest, code, and a test that passes. */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import type { PluginTemplateKind } from '../../domain/plugin-manifest.ts'
import { writeNewFile } from '../../files/whole-files.ts'

interface Template {
  readonly registry: string
  readonly trust: 'trusted' | 'sandboxed'
  readonly imports: string
  /** The object that the plugin adds. */
  readonly item: string
  /** Lines of the test, which has the object in `item`. */
  readonly test: string
  readonly effects?: object
}

const ENTRY = 'index.ts'
const FROM = "from 'tireless'"

const TEMPLATES: Readonly<Record<PluginTemplateKind, (name: string) => Template>> = {
  tool: (name) => ({
    ...{ registry: 'tools', trust: 'sandboxed', effects: { [name]: { recovery: 'pure', reach: 'none' } } },
    imports: `import { definePlugin, defineTool } ${FROM}\nimport { z } from 'zod'`,
    item: `defineTool({
  name: '${name}',
  description: 'Says how many words a text has.',
  args: z.strictObject({ text: z.string() }),
  effect: { recovery: 'pure', reach: 'none' },
  run: ({ text }) => ({ words: text.split(/\\s+/).filter((word) => word !== '').length }),
})`,
    test: "  assert.deepEqual(await item.run({ text: 'good morning' }), { words: 2 })",
  }),
  gate: (name) => ({
    ...{ registry: 'gates', trust: 'sandboxed' },
    imports: `import { definePlugin, type Gate } ${FROM}`,
    item: `{
  name: '${name}',
  judge: ({ tool }) =>
    tool === 'bash' ? { kind: 'ask', reason: 'commands need a person' } : { kind: 'allow' },
} satisfies Gate`,
    test: `  assert.equal(item.judge({ tool: 'bash' }).kind, 'ask')
  assert.equal(item.judge({ tool: 'view_file' }).kind, 'allow')`,
  }),
  critic: (name) => ({
    ...{ registry: 'critics', trust: 'sandboxed' },
    imports: `import { type Critic, definePlugin } ${FROM}`,
    item: `{
  name: '${name}',
  judge: (_state, step) =>
    step.results.some(({ status }) => status === 'error')
      ? { kind: 'retry', instruction: 'A call failed. Correct it.' }
      : { kind: 'continue' },
} satisfies Critic`,
    test: "  assert.equal(item.judge({}, { results: [{ status: 'error' }] }).kind, 'retry')",
  }),
  channel: (name) => ({
    ...{ registry: 'channels', trust: 'sandboxed' },
    imports: `import { type Channel, definePlugin } ${FROM}`,
    item: `{
  name: '${name}',
  trouble: () => null,
  // Replace this by a request to your service, and list its host under needs.network.
  deliver: async ({ text }) => console.log(text),
} satisfies Channel`,
    test: "  await item.deliver({ text: 'hello' })",
  }),
  source: (name) => ({
    ...{ registry: 'sources', trust: 'sandboxed' },
    imports: `import { definePlugin, type Source } ${FROM}`,
    item: `{
  name: '${name}',
  type: '${name}',
  async run(sink, signal) {
    const observation = { type: 'system_event', name: 'started', payload: null } as const
    await sink.publish({ id: 'started', observation })
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
} satisfies Source`,
    test: `  const published: { id: string }[] = []
  const sink = { publish: async (event: { id: string }) => void published.push(event) }
  await item.run(sink, AbortSignal.abort())
  assert.equal(published[0]?.id, 'started')`,
  }),
  model: (name) => ({
    ...{ registry: 'modelProviders', trust: 'sandboxed' },
    imports: `import { definePlugin, type ModelProvider } ${FROM}`,
    item: `{
  name: '${name}',
  models: ['echo'],
  open: () => ({
    // US dollars per million tokens. Without a price, the model is not called while a money limit is set.
    price: { input: 0, output: 0, max_output: 4096 },
    call: async ({ messages }) => ({
      text: \`You wrote: \${messages.at(-1)?.text ?? ''}\`,
      calls: [],
      finish: 'stop',
      usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
    }),
  }),
} satisfies ModelProvider`,
    test: `  const { text } = await item.open('echo').call({ messages: [{ text: 'hi' }] })
  assert.equal(text, 'You wrote: hi')`,
  }),
  behaviour: (name) => ({
    ...{ registry: 'behaviours', trust: 'trusted' },
    imports: `import { defineBehaviour, definePlugin } ${FROM}`,
    item: `defineBehaviour<{ task: string }>({
  name: '${name}',
  initState: (task) => ({ task }),
  buildSystemPrompt: () => 'Answer in one sentence.',
})`,
    test: "  assert.deepEqual(item.initState('x'), { task: 'x' })",
  }),
}

/** Contract: the paths of the files; throws `conflict` if the folder exists. `program`: addresses of our modules. */
export function writeTemplate(
  folder: string,
  name: string,
  kind: PluginTemplateKind,
  program: Readonly<Record<string, string>>,
): readonly string[] {
  if (existsSync(folder))
    throw new TirelessError('conflict', { what: 'the folder exists', got: folder, fix: 'choose another name' })
  const item = name.replaceAll('-', '_')
  const template = TEMPLATES[kind](item)
  const files: Readonly<Record<string, string>> = {
    'tireless-plugin.json': manifestText(name, item, template),
    [ENTRY]: codeText(name, template),
    'index.test.ts': testText(item, template),
    'resolve-tireless.mjs': resolverText(program),
  }
  mkdirSync(folder, { recursive: true })
  try {
    for (const [file, text] of Object.entries(files)) writeNewFile(join(folder, file), text, { mode: 0o644 })
  } catch (thrown) {
    // A half-made folder would refuse the next attempt.
    rmSync(folder, { recursive: true })
    throw thrown
  }
  return Object.keys(files).map((file) => join(folder, file))
}

const manifestText = (name: string, item: string, { registry, trust, effects }: Template): string =>
  `${JSON.stringify(
    {
      ...{ name, version: '0.1.0', entry: ENTRY, trust, provides: { [registry]: [item] } },
      needs: { network: [], secrets: [] },
      ...(effects && { effects }),
    },
    null,
    2,
  )}\n`

const codeText = (name: string, { imports, item, registry }: Template): string => `${imports}

export const item = ${item}

export default definePlugin({
  name: '${name}',
  needs: ['${registry}'],
  setup: (host) => host.get('${registry}').add(item),
})
`

const testText = (name: string, { test }: Template): string => `// Run it with: node --test
import assert from 'node:assert/strict'
import { test } from 'node:test'
import './resolve-tireless.mjs'

test('${name}', async () => {
  const { default: plugin, item } = await import('./${ENTRY}')
  const added: { name: string }[] = []
  const registry = { add: (...items: { name: string }[]) => added.push(...items) }
  await plugin.setup({ get: () => registry })
  assert.deepEqual(added.map(({ name }) => name), ['${name}'])
${test}
})
`

const resolverText = (program: Readonly<Record<string, string>>): string => `// For tests only: where this machine has
// Tireless. Remove this file, and its import, if you install tireless as a package beside the plugin.
import { registerHooks } from 'node:module'

const modules = ${JSON.stringify(program, null, 2)}

registerHooks({
  resolve: (specifier, context, next) =>
    Object.hasOwn(modules, specifier) ? { url: modules[specifier], shortCircuit: true } : next(specifier, context),
})
`
