/** Reads the manifest of a plugin: `tireless-plugin.json`, or the key `tireless` of its package.json. */

import { basename, extname } from 'node:path'
import { z } from 'zod'
import { parseAllowedHost } from '../../domain/address.ts'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { REACHES, RECOVERIES } from '../../domain/effect.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import {
  NO_NEEDS,
  PLUGIN_KINDS,
  PLUGIN_TRUSTS,
  type PluginManifest,
  type PluginTrust,
  SANDBOXED_KINDS,
} from '../../domain/plugin-manifest.ts'
import type { PluginFiles } from './plugin-files.ts'

const MANIFEST_FILE = 'tireless-plugin.json'

const name = z.string().regex(/^(@[\w.-]{1,64}\/)?[\w.-]{1,64}$/, 'a name of letters, digits, . _ and -')
const names = z.array(z.string().min(1).max(200)).max(200)
const host = z.string().refine((text) => parseAllowedHost(text) !== undefined, 'a host such as api.example.com')

const manifestSchema = z.strictObject({
  name,
  version: z.string().max(64).optional(),
  entry: z.string().min(1),
  trust: z.enum(PLUGIN_TRUSTS).default('sandboxed'),
  provides: z.partialRecord(z.enum([...PLUGIN_KINDS, 'services']), names),
  needs: z
    .strictObject({
      network: z.array(host).default([]),
      folders: names.default([]),
      reads: names.default([]),
      secrets: names.default([]),
    })
    .default(NO_NEEDS as never),
  effects: z.record(z.string(), z.strictObject({ recovery: z.enum(RECOVERIES), reach: z.enum(REACHES) })).default({}),
})

/** Contract: throws `plugin_invalid` with the file and the wrong key. `wanted`: the owner's choice of trust. */
export function readPluginManifest(plugin: PluginFiles, wanted: PluginTrust | null, where: string): PluginManifest {
  const found = manifestIn(plugin)
  if (!found) return withoutManifest(plugin, wanted, where)
  const { success, data, error } = manifestSchema.safeParse(found.manifest)
  if (!success)
    throw new TirelessError('plugin_invalid', {
      ...{ what: describeMismatch(error.issues, found.manifest), where: `${where}: ${found.file}` },
      fix: 'correct the manifest (docs/plugins.md)',
    })
  const manifest: PluginManifest = {
    ...data,
    version: data.version ?? null,
    entry: data.entry.replace(/^\.\//, ''),
    trust: wanted ?? data.trust,
  }
  if (!plugin.files.has(manifest.entry)) throw noEntry(where, found.file, manifest.entry)
  checkSandboxed(manifest, `${where}: ${found.file}`)
  return manifest
}

/** Only what runs in the sandbox is limited to it: in this process, no declaration would hold. */
function checkSandboxed({ trust, provides, effects }: PluginManifest, where: string): void {
  if (trust === 'trusted') return
  const other = Object.keys(provides ?? {}).find((kind) => !(SANDBOXED_KINDS as readonly string[]).includes(kind))
  if (other !== undefined)
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'a sandboxed plugin cannot provide this', where, got: other },
      ...{ expected: SANDBOXED_KINDS.join(', '), fix: 'remove it, or load the plugin with `trust: trusted`' },
    })
  const probed = Object.entries(effects).find(([, { recovery }]) => recovery === 'reconcilable')
  if (probed)
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'a tool of a sandboxed plugin cannot be reconcilable', where, got: probed[0] },
      fix: 'use pure, idempotent or once',
    })
}

function manifestIn({ files, isSingleFile }: PluginFiles): { file: string; manifest: unknown } | undefined {
  if (isSingleFile) return undefined
  const own = files.get(MANIFEST_FILE)
  if (own) return { file: MANIFEST_FILE, manifest: parseJson(own, MANIFEST_FILE) }
  const bytes = files.get('package.json')
  const about = bytes && (parseJson(bytes, 'package.json') as Readonly<Record<string, unknown>> | null)
  if (typeof about?.tireless !== 'object' || about.tireless === null) return undefined
  const { name: of, version, main } = about
  return { file: 'package.json, key tireless', manifest: { name: of, version, entry: main, ...about.tireless } }
}

function parseJson(bytes: Buffer, file: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (thrown) {
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'the file is not JSON', where: file, got: asTirelessError(thrown).message },
    })
  }
}

/** A single file without a manifest may add anything, so it must be trusted. */
function withoutManifest({ files, isSingleFile }: PluginFiles, wanted: PluginTrust | null, where: string) {
  const [file = ''] = files.keys()
  if (!isSingleFile || wanted === 'sandboxed')
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'the plugin has no manifest', where },
      expected: `${MANIFEST_FILE}, or the key tireless in package.json`,
      fix: isSingleFile
        ? 'write one beside the file in a folder of its own, or trust it'
        : 'write one (docs/plugins.md)',
    })
  const manifest: PluginManifest = {
    ...{ name: basename(file, extname(file)), version: null, entry: file, trust: 'trusted' },
    ...{ provides: null, needs: NO_NEEDS, effects: {} },
  }
  return manifest
}

const noEntry = (where: string, file: string, entry: string): TirelessError =>
  new TirelessError('plugin_invalid', {
    ...{ what: 'the plugin has no such file', where: `${where}: ${file}: entry`, got: entry },
    fix: 'name a file of the plugin, relative to its folder',
  })
