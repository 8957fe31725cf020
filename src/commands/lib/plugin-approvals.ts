/** What commands can do with the plugins of the configuration. */

import type {
  FoundPlugin,
  PluginEntry,
  PluginState,
  PluginTemplateKind,
  PluginTrust,
} from '../../domain/plugin-manifest.ts'

/** Plugins of the configuration, and the owner's approval of them. */
export interface PluginApprovals {
  /** Contract: never rejects because of a broken plugin. */
  list(): Promise<readonly PluginState[]>
  /** Contract: the configured plugin by its name, path or package; throws `not_found`. */
  find(wanted: string): Promise<FoundPlugin>
  /** Contract: a plugin that may be added; relative paths and packages are looked for at `from`. */
  locate(source: string, from: string, trust: PluginTrust | null): Promise<FoundPlugin>
  /** Contract: approves the files as they are; throws `conflict` if their digest is not `digest`. */
  approve(entry: PluginEntry, digest: string | undefined): Promise<PluginState>
  revoke(name: string): Promise<void>
  /** Contract: writes the folder of a new plugin and returns the paths of its files; `conflict` if it exists. */
  writeTemplate(folder: string, name: string, kind: PluginTemplateKind): readonly string[]
}
