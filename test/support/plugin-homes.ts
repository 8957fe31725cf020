/** Homes with plugins of the configuration, for tests. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { createApp } from '../../src/app.ts'
import { freshFolder, openApp } from './open-app.ts'

/** A plugin with one tool, as its author writes it. */
export const GREETER = `
import { definePlugin, defineTool } from 'tireless'
import { z } from 'zod'
const greet = defineTool({
  name: 'greet',
  description: 'Greets a person',
  args: z.strictObject({ name: z.string() }),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async ({ name }: { name: string }) => ({ status: 'ok', content: \`Good morning, \${name}\` }),
})
export default definePlugin({ name: 'greeter', needs: ['tools'], setup: (host) => host.get('tools').add(greet) })
`

export const manifestOf = (more: object = {}): string =>
  JSON.stringify({
    ...{ name: 'greeter', version: '1.0.0', entry: 'index.ts', trust: 'trusted', provides: { tools: ['greet'] } },
    ...more,
  })

/** The files of the plugin `greeter`; `more`: files that are added or replaced. */
export const greeterFiles = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  'tireless-plugin.json': manifestOf(),
  'index.ts': GREETER,
  ...more,
})

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** A home with these files in `plugins/greeter`, and the configuration `yaml`. */
export function pluginHome(t: TestContext, files = greeterFiles(), yaml = 'plugins: [./plugins/greeter]\n'): string {
  const home = freshFolder(t)
  writeFiles(join(home, 'plugins/greeter'), files)
  writeFileSync(join(home, 'tireless.yaml'), yaml)
  return home
}

/** Runs `work` in an app of the home that leaves its plugins out, as commands do that repair them. */
export async function withoutPlugins<T>(home: string, work: (app: App) => Promise<T>): Promise<T> {
  const broken = await createApp({ home }).then(
    (app) => app.close(),
    (error) => error,
  )
  const app = await createApp({ home, ...(broken && { withoutPlugins: broken }) })
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

export const approvePlugin = (home: string, name = 'greeter') =>
  withoutPlugins(home, (app) => app.run('plugins approve', { name, yes: true }))

/** An app of the home whose plugins are approved as they are. */
export async function openApproved(
  t: TestContext,
  home: string,
  { name, ...options }: AppOptions & { name?: string } = {},
): Promise<App> {
  await approvePlugin(home, name)
  return openApp(t, { home, ...options })
}
