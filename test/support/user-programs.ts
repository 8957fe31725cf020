/** Programs of users: for the tests of the package, and those in the documents. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The programs in README.md and docs, by the name of a file for each. They are complete: with their imports. */
export function documentedPrograms(): Record<string, string> {
  const documents = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const programs = documents.flatMap((document) =>
    [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
      ([, program = ''], i) => [`${document.replaceAll('/', '-')}-${i + 1}.ts`, program] as const,
    ),
  )
  return Object.fromEntries(programs)
}

export const LIBRARY_PROGRAM = `
import { createApp, definePlugin, defineTool, runTask } from 'tireless'
import { scriptedModel } from 'tireless/testing'
import { z } from 'zod'

const greet = defineTool({
  name: 'greet',
  description: 'Says hello',
  args: z.strictObject({}),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async () => ({ status: 'ok', content: 'good morning' }),
})
const plugin = definePlugin({ name: 'greeter', needs: ['tools'], setup: (host) => host.get('tools').add(greet) })
const model = scriptedModel([{ calls: [{ tool: 'greet' }] }, { text: 'good morning' }])
const { status, answer } = await runTask('greet me', { home: './library-home', model, plugins: [plugin] })
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
import { type AnyTool, createApp, definePlugin, defineTool, type Registry, runTask, type TaskResult } from 'tireless'
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
`
