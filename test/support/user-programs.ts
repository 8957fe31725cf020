/** Programs of users: for the tests of the package, and those in the documents. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The programs in README.md and docs, by the name of a file for each. They are complete: with their imports. */
export function documentedPrograms(): Record<string, string> {
  const documents = ['README.md', ...globSync('docs/{*,plugins/*}.md', { cwd: ROOT })]
  const programs = documents.flatMap((document) =>
    [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
      ([, program = ''], i) => [`${document.replaceAll('/', '-')}-${i + 1}.ts`, program] as const,
    ),
  )
  return Object.fromEntries(programs)
}

export const LIBRARY_PROGRAM = `
import { createApp, definePlugin, defineTool, runTask, startTask } from 'tireless'
import { scriptedModel } from 'tireless/testing'
import { z } from 'zod'

const greet = defineTool({
  name: 'greet',
  description: 'Says hello',
  args: z.strictObject({}),
  effect: { recovery: 'pure', reach: 'none' },
  run: () => ({ text: 'good morning' }),
})
const plugin = definePlugin({ name: 'greeter', needs: ['tools'], setup: (host) => host.get('tools').add(greet) })
const ask = { calls: [{ tool: 'ask_user', args: { question: 'When?' } }] }
const model = scriptedModel([{ calls: [{ tool: 'greet' }] }, ask, { text: '{"text": "good morning"}' }])
const options = { home: './library-home', model, plugins: [plugin] }
const greeting = { objective: 'greet me', answer: z.object({ text: z.string() }) }
const task = await startTask(greeting, { ...options, key: 'greeting' })
await task.waiting()
await task.close()
const onWait = (wait, handle) => handle.answer('now')
const { status, answer: { text: answer } } = await runTask(greeting, { ...options, key: 'greeting', onWait })
const app = await createApp({ home: './library-home' })
console.log(status, answer, JSON.stringify(await app.context.store.verify()))
await app.close()
`

export const PAGE_PROGRAM = `
import { createApp } from 'tireless'
import { mkdirSync, writeFileSync } from 'node:fs'

mkdirSync('./page-home', { recursive: true })
writeFileSync('./page-home/tireless.yaml', 'server: { port: 0 }')
const app = await createApp({ home: './page-home' })
const { url } = await app.context.serveHttp()
const page = await fetch(url)
const line = ({ status, headers }) => [status, headers.get('content-type'), headers.get('cache-control')].join(' ')
console.log(line(page))
const paths = (await page.text()).matchAll(/(?:src|href)="(\\/assets\\/[^"]+)"/g)
for (const [, path] of paths) console.log(line(await fetch(url + path)))
await app.close()
`

export const TYPED_PROGRAM = `
import {
  type AnyTool,
  attachTask,
  createApp,
  defineBehaviour,
  defineEvent,
  definePlugin,
  defineTool,
  type Registry,
  type RunTaskOptions,
  runTask,
  startTask,
  type TaskHandle,
  type TaskResult,
} from 'tireless'
import { FakeClock, scriptedModel } from 'tireless/testing'
import { z } from 'zod'

declare module 'tireless' {
  interface Services {
    readonly greeter: { readonly greeting: string }
  }
}

const tool = defineTool({
  name: 'greet',
  description: 'Says hello',
  args: z.strictObject({ name: z.string() }),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async ({ name }) => ({ status: 'ok', content: name.toUpperCase() }),
})
const plugin = definePlugin({
  name: 'greeter',
  needs: ['tools', 'store'],
  provides: ['greeter'],
  setup(host) {
    const tools: Registry<AnyTool> = host.get('tools')
    tools.add(tool)
    host.provide('greeter', { greeting: String(tools.all.size) })
    // @ts-expect-error: greeting must be a string
    host.provide('greeter', { greeting: 1 })
  },
})
const app = await createApp({ plugins: [plugin], model: scriptedModel([{ text: 'x' }]), clock: new FakeClock() })
export const greeting: string = app.service('greeter').greeting
export const pending: number = (await app.service('store').counts()).pending
// @ts-expect-error: no plugin provides it
app.service('nobody')
export const result: TaskResult = await runTask('x')

const colour = z.object({ name: z.string(), red: z.number() })
const onWait: RunTaskOptions['onWait'] = (wait, handle) => handle.answer(wait.reason)
const typed = await runTask({ objective: 'x', answer: colour }, { onWait })
export const red: number | undefined = typed.answer?.red
export const raw: string | null = typed.text
// @ts-expect-error: the schema has no such key
export const green = typed.answer?.green

const painted = defineEvent('painted', colour)
const looks = defineTool({
  name: 'looks',
  description: 'Looks at the state',
  args: z.object({}),
  effect: { recovery: 'pure', reach: 'none' },
  run: (_, { state, clock, signal }) => ({ state, at: clock.now(), aborted: signal.aborted }),
})
const painter = defineBehaviour({
  name: 'painter',
  tools: ['looks'],
  initState: { coats: 0, colours: [] as string[] },
  decide: ({ coats }, observation) => {
    const seen: { name: string; red: number } | undefined = painted.read(observation)
    return seen && coats > 1 ? { kind: 'final', answer: seen.name } : painted.wait()
  },
  reduce: ({ coats, colours }) => ({ coats: coats + 1, colours }),
})
await using task: TaskHandle = await startTask('paint', { key: 'k', tools: [looks], behaviours: [painter] })
for await (const event of task) if (event.kind === 'wait') await task.send(painted, { name: 'blue', red: 0 })
// @ts-expect-error: the payload does not match
await task.send(painted, { name: 'blue' })
const again = await attachTask(task.id, { answer: colour })
export const later: number | undefined = (await again.result()).answer?.red
`
