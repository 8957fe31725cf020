/** Plugins: list them, add one to the configuration, approve its files, remove it, write a new one. */

import { z } from 'zod'
import { REACHES, RECOVERIES } from '../domain/effect.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import {
  type FoundPlugin,
  PLUGIN_STATES,
  PLUGIN_TEMPLATE_KINDS,
  PLUGIN_TRUSTS,
  type PluginState,
} from '../domain/plugin-manifest.ts'
import { auditOwnerAction } from './audit.ts'
import { tellKept } from './lib/bring-back.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { describePlugin } from './lib/describe-plugin.ts'
import type { Progress } from './lib/progress.ts'

const names = z.array(z.string())

const pluginShape = z.object({
  name: z.string(),
  source: z.string().describe('path or package, as the configuration names it'),
  version: z.string().nullable(),
  trust: z.enum(PLUGIN_TRUSTS).nullable(),
  state: z.enum(PLUGIN_STATES),
  why: z.string().nullable().describe('why it is not loaded'),
  provides: z.record(z.string(), names),
  needs: z.object({ network: names, folders: names, reads: names, secrets: names }),
  effects: z.record(z.string(), z.object({ recovery: z.enum(RECOVERIES), reach: z.enum(REACHES) })),
  digest: z.string().nullable(),
  approved_at: z.string().nullable(),
})

const approvalShape = z.object({
  plugin: pluginShape,
  restart: z.boolean().describe('whether the running kernel must be restarted to load it'),
})

const printable = (plugin: PluginState): z.input<typeof pluginShape> => structuredClone(plugin) as never

const YES = z.boolean().default(false).describe('do not ask').meta({ short: 'y' })
const FROM = z.string().optional().describe('folder that a relative path starts at').meta({ path: true, here: true })
const DIGEST = z.string().min(8).optional().describe('only if the plugin still has this digest')

export const pluginsList = defineCommand({
  name: 'plugins list',
  summary: 'list plugins, what they add, and whether they are loaded',
  example: 'plugins list',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['plugins'],
  input: z.object({}),
  output: z.object({ items: z.array(pluginShape) }),
  run: async ({ plugins }) => ({ items: (await plugins.list()).map(printable) }),
})

export const pluginsShow = defineCommand({
  name: 'plugins show',
  summary: 'show what a plugin may do, before it is added or approved; runs nothing of it',
  example: 'plugins show ./plugins/weather',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['homeSetup', 'plugins'],
  positional: ['source'],
  input: z.object({
    source: z.string().min(1).describe('name of a configured plugin, or a file, folder or installed npm package'),
    trust: z.enum(PLUGIN_TRUSTS).optional().describe('default: what its manifest asks for'),
    from: FROM,
  }),
  output: pluginShape.extend({
    configured: z.boolean(),
    words: z.string().describe('what it may do'),
    words_zh: z.string().describe('the same in Chinese'),
  }),
  async run({ plugins, homeSetup }, { source, trust, from }) {
    const known = (await plugins.list()).some(({ name, source: path }) => name === source || path === source)
    const { plugin, index } = known
      ? await plugins.find(source)
      : await plugins.locate(source, from ?? homeSetup.home, trust ?? null)
    const [words, words_zh] = [describePlugin(plugin, 'en'), describePlugin(plugin, 'zh')]
    return { ...printable(plugin), configured: index !== undefined, words, words_zh }
  },
})

/** Contract: shows what the plugin may do; throws `confirmation_needed` unless the owner agreed. */
function askOwner(plugin: PluginState, yes: boolean, again: string, tell: (progress: Progress) => void): void {
  if (yes) return
  tell({ kind: 'note', text: describePlugin(plugin, 'en'), zh: describePlugin(plugin, 'zh') })
  throw new TirelessError('confirmation_needed', {
    what: `this lets Tireless load the plugin ${plugin.name}; nothing was changed yet`,
    fix: `run tireless ${again} --yes --digest ${plugin.digest?.slice(0, 12)}`,
  })
}

async function approve(
  context: Needs<'plugins' | 'kernel' | 'store' | 'clock'>,
  { entry }: Pick<FoundPlugin, 'entry'>,
  digest: string | undefined,
): Promise<z.input<typeof approvalShape>> {
  const plugin = await context.plugins.approve(entry, digest)
  await auditOwnerAction(context, 'plugin', { name: plugin.name, digest: plugin.digest, trust: plugin.trust })
  return { plugin: printable(plugin), restart: context.kernel.isRunning() }
}

export const pluginsAdd = defineCommand({
  name: 'plugins add',
  summary: 'add a plugin to the configuration and approve its files, after showing what it may do',
  example: 'plugins add ./plugins/weather',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'homeSetup', 'kernel', 'plugins', 'store'],
  positional: ['source'],
  input: z.object({
    source: z.string().min(1).describe('a file, a folder, or an npm package that is installed'),
    trust: z.enum(PLUGIN_TRUSTS).optional().describe('default: what its manifest asks for'),
    yes: YES,
    digest: DIGEST,
    from: FROM,
  }),
  output: approvalShape,
  async run(context, { source, trust, yes, digest, from }, tell) {
    const { plugins, homeSetup, changeConfig } = context
    const found = await plugins.locate(source, from ?? homeSetup.home, trust ?? null)
    const { entry, index, plugin } = found
    askOwner(plugin, yes, `plugins add ${source}${trust ? ` --trust ${trust}` : ''}`, tell)
    const approved = await approve(context, found, digest)
    const value = configuredEntry(entry)
    const count = (await plugins.list()).length
    const change = count === 0 ? { path: ['plugins'], value: [value] } : { path: ['plugins', index ?? count], value }
    changeConfig([change])
    return approved
  },
})

/** Contract: the entry as the owner would write it. */
function configuredEntry({ path, package: name, trust, options }: FoundPlugin['entry']): Json {
  const hasOptions = Object.keys(options).length > 0
  if (trust === null && !hasOptions) return path ?? name
  const where = path === null ? { package: name } : { path }
  return { ...where, ...(trust !== null && { trust }), ...(hasOptions && { options: { ...options } }) }
}

export const pluginsApprove = defineCommand({
  name: 'plugins approve',
  summary: 'approve the files of a plugin as they are; a later change to them needs a new approval',
  example: 'plugins approve weather',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['clock', 'kernel', 'plugins', 'store'],
  positional: ['name'],
  input: z.object({ name: z.string().min(1).describe('name of the plugin, or its path'), yes: YES, digest: DIGEST }),
  output: approvalShape,
  async run(context, { name, yes, digest }, tell) {
    const found = await context.plugins.find(name)
    const { plugin } = found
    if (plugin.digest === null)
      throw new TirelessError('plugin_invalid', `the plugin cannot be approved: ${plugin.why ?? ''}`)
    askOwner(plugin, yes, `plugins approve ${name}`, tell)
    return approve(context, found, digest)
  },
})

export const pluginsRemove = defineCommand({
  name: 'plugins remove',
  summary: 'remove a plugin from the configuration, and its approval; its files stay',
  example: 'plugins remove weather',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['changeConfig', 'kernel', 'plugins'],
  positional: ['name'],
  input: z.object({ name: z.string().min(1).describe('name of the plugin, or its path') }),
  output: z.object({
    name: z.string(),
    source: z.string(),
    restart: z.boolean(),
    kept: z.string().nullable().describe('the configuration file from before'),
  }),
  async run({ plugins, changeConfig, kernel }, { name: wanted }, tell) {
    const { index, plugin } = await plugins.find(wanted)
    const kept = changeConfig([{ path: ['plugins', index ?? -1], value: undefined }])
    await plugins.revoke(plugin.name)
    tellKept(tell, kept)
    return { name: plugin.name, source: plugin.source, restart: kernel.isRunning(), kept }
  },
})

export const pluginsNew = defineCommand({
  name: 'plugins new',
  summary: 'write the folder of a new plugin: manifest, code, and a test that passes',
  example: 'plugins new weather --kind tool',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['homeSetup', 'machine', 'plugins'],
  positional: ['name'],
  input: z.object({
    name: z.string().regex(/^[a-z][a-z0-9-]{0,40}$/, 'a name of small letters, digits and -'),
    kind: z.enum(PLUGIN_TEMPLATE_KINDS).default('tool').describe('what the plugin adds'),
    in: z
      .string()
      .optional()
      .describe('folder in which it is written; default: plugins in the home')
      .meta({ path: true }),
  }),
  output: z.object({ name: z.string(), folder: z.string(), files: names }),
  async run({ plugins, homeSetup, machine }, { name, kind, in: place }) {
    const folder = machine.fullPath(name, place ?? machine.fullPath('plugins', homeSetup.home))
    return { name, folder, files: [...plugins.writeTemplate(folder, name, kind)] }
  },
})
