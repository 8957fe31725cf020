/** The plugins that the configuration names: their files, manifests, approvals and states. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import {
  type FoundPlugin,
  isPluginPath,
  NO_NEEDS,
  type PluginEntry,
  type PluginManifest,
  type PluginPin,
  type PluginProvides,
  type PluginState,
  type PluginTemplateKind,
  type PluginTrust,
  pluginLabel,
  sourceOf,
} from '../../domain/plugin-manifest.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { findPackage, isPackageName, packageMissing } from './find-plugin.ts'
import { type PluginFiles, readPluginFiles } from './plugin-files.ts'
import { readPluginManifest } from './plugin-manifest.ts'
import { checkPin, pinOf, readPins, writePin } from './plugin-pins.ts'
import { writeTemplate } from './template.ts'

export interface InspectedPlugin {
  readonly entry: PluginEntry
  readonly files: PluginFiles
  readonly manifest: PluginManifest
}

interface LibraryOptions {
  readonly home: string
  readonly store: Store
  readonly clock: Clock
  /** Contract: the absolute path; relative ones start at the home. */
  expandPath(path: string): string
  configured(): readonly PluginEntry[]
  /** Addresses of the program's own modules, by name. */
  readonly modules: Readonly<Record<string, string>>
  /** Contract: what a sandboxed plugin offers; starts it once. */
  readOffers(plugin: InspectedPlugin): Promise<Json>
}

export class PluginLibrary {
  readonly #options: LibraryOptions
  /** What the loaded plugins have added, by name. */
  readonly #loaded = new Map<string, Record<string, string[]>>()
  #problem: TirelessError | undefined

  constructor(options: LibraryOptions) {
    this.#options = options
  }

  /** Contract: throws `plugin_invalid` if the plugin does not exist, or its files or manifest are not usable. */
  async inspect(entry: PluginEntry): Promise<InspectedPlugin> {
    const files = await readPluginFiles(this.#locate(entry), sourceOf(entry))
    return { entry, files, manifest: readPluginManifest(files, entry.trust, sourceOf(entry)) }
  }

  /** Contract: the plugin and its approval; throws `plugin_unapproved` unless the owner approved these files. */
  async admit(entry: PluginEntry): Promise<InspectedPlugin & { readonly pin: PluginPin }> {
    const plugin = await this.inspect(entry)
    const pin = pinOf(await readPins(this.#options.store), plugin.manifest.name)
    const refused = checkPin(plugin.manifest, plugin.files, pin)
    if (refused) throw refused.error
    return { ...plugin, pin: pin as PluginPin }
  }

  /** Contract: all plugins of the configuration; never rejects because of a broken one. */
  async list(): Promise<readonly PluginState[]> {
    const pins = await readPins(this.#options.store)
    return Promise.all(this.#options.configured().map((entry) => this.#stateOf(entry, pins)))
  }

  /** Contract: the plugin of the configuration by its name, path or package; throws `not_found`. */
  async find(wanted: string): Promise<FoundPlugin> {
    const states = await this.list()
    const index = states.findIndex(({ name, source }) => name === wanted || source === wanted)
    const [entry, plugin] = [this.#options.configured()[index], states[index]]
    if (entry && plugin) return { entry, index, plugin }
    throw new TirelessError('not_found', {
      ...{ what: 'no such plugin in the configuration', got: wanted },
      expected: states.length === 0 ? 'none is configured' : `one of ${states.map(({ name }) => name).join(', ')}`,
      fix: `add it: tireless plugins add ${wanted}`,
    })
  }

  /**
   * Contract: a plugin that may be added: a path that starts at `from`, or a package that is installed in the home or
   * at `from`. Throws if it is not there, or is not usable.
   */
  async locate(source: string, from: string, trust: PluginTrust | null): Promise<FoundPlugin> {
    const { home } = this.#options
    const installed = isPluginPath(source) ? undefined : (findPackage(source, home) ?? findPackage(source, from))
    const isPackage = installed === undefined && !isPluginPath(source) && !existsSync(resolve(from, source))
    const isInHome = installed !== undefined && installed === findPackage(source, home)
    const path = installed ?? (source.startsWith('~') ? source : resolve(from, source))
    const isNamed = isPackage || isInHome
    const located: PluginEntry = {
      ...{ path: isNamed ? null : relativeTo(home, path), package: isNamed ? source : null },
      ...{ trust, options: {} },
    }
    const { manifest } = await this.inspect(located)
    const index = (await this.list()).findIndex(({ name }) => name === manifest.name)
    const known = this.#options.configured()[index]
    const entry = known ? { ...located, trust: trust ?? known.trust, options: known.options } : located
    return { entry, index: index < 0 ? undefined : index, plugin: await this.describe(entry) }
  }

  async describe(entry: PluginEntry): Promise<PluginState> {
    return this.#stateOf(entry, await readPins(this.#options.store))
  }

  /** Contract: approves the files as they are; throws `conflict` if their digest is not the one that was reviewed. */
  async approve(entry: PluginEntry, digest: string | undefined): Promise<PluginState> {
    const plugin = await this.inspect(entry)
    const { files, manifest } = plugin
    if (digest !== undefined && !files.digest.startsWith(digest))
      throw new TirelessError('conflict', {
        ...{ what: 'the plugin changed since you reviewed it', where: pluginLabel(manifest.name) },
        ...{ got: files.digest.slice(0, 12), expected: digest, fix: 'review it again' },
      })
    const offers = manifest.trust === 'sandboxed' ? await this.#options.readOffers(plugin) : null
    const { store, clock } = this.#options
    const pin = { digest: files.digest, trust: manifest.trust, approved_at: iso(clock.now()), files: files.hashes }
    await writePin(store, manifest.name, { ...pin, offers })
    return this.describe(entry)
  }

  async revoke(name: string): Promise<void> {
    await writePin(this.#options.store, name, null)
  }

  writeTemplate(folder: string, name: string, kind: PluginTemplateKind): readonly string[] {
    return writeTemplate(folder, name, kind, this.#options.modules)
  }

  noteLoaded(name: string): void {
    this.#loaded.set(name, {})
  }

  noteAdded(plugin: string, kind: string, name: string): void {
    const added = this.#loaded.get(plugin) ?? {}
    this.#loaded.set(plugin, added)
    added[kind] = [...(added[kind] ?? []), name]
  }

  /** `error`: why the plugins were left out of this process. */
  noteProblem(error: TirelessError): void {
    this.#problem = error
  }

  #locate(entry: PluginEntry): string {
    const { home, expandPath } = this.#options
    if (entry.path !== null) return expandPath(entry.path)
    const name = entry.package ?? ''
    const found = isPackageName(name) ? findPackage(name, home) : undefined
    if (found === undefined) throw packageMissing(name, home)
    return found
  }

  async #stateOf(entry: PluginEntry, pins: Readonly<Record<string, PluginPin>>): Promise<PluginState> {
    const source = sourceOf(entry)
    const unknown = { source, version: null, trust: entry.trust, needs: NO_NEEDS, effects: {}, digest: null }
    try {
      const { files, manifest } = await this.inspect(entry)
      const { name, version, trust, needs, effects } = manifest
      const pin = pinOf(pins, name)
      const refused = checkPin(manifest, files, pin)
      const failure = refused === null ? this.#failureOf(name) : undefined
      const state = refused?.state ?? (failure ? 'failed' : this.#loaded.has(name) ? 'loaded' : 'approved')
      return {
        ...{ name, source, version, trust, needs, effects, state, provides: this.#providesOf(manifest) },
        ...{ why: (refused?.error ?? failure)?.message ?? null },
        ...{ digest: files.digest, approved_at: pin?.approved_at ?? null },
      }
    } catch (thrown) {
      const why = asTirelessError(thrown).message
      return { ...unknown, name: source, state: 'failed', why, provides: {}, approved_at: null }
    }
  }

  #failureOf(name: string): TirelessError | undefined {
    const where = this.#problem?.parts.where ?? ''
    return where === pluginLabel(name) || where.startsWith(`${pluginLabel(name)}:`) ? this.#problem : undefined
  }

  #providesOf({ name, provides }: PluginManifest): PluginProvides {
    return provides ?? this.#loaded.get(name) ?? {}
  }
}

/** Contract: the path from the home for a path in it, so that the home can be moved; else the path itself. */
const relativeTo = (home: string, path: string): string =>
  path.startsWith(`${home}/`) ? `./${path.slice(home.length + 1)}` : path
