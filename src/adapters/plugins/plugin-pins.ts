/** The owner's approvals of plugins, in the settings of the store, and the comparison with the files of today. */

import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { type PluginManifest, type PluginPin, pluginLabel } from '../../domain/plugin-manifest.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import type { PluginFiles } from './plugin-files.ts'

const PINS = 'plugin pins'

type Pins = Readonly<Record<string, PluginPin>>

/** If the stored approvals are unreadable, no plugin counts as approved. */
export async function readPins(store: Store): Promise<Pins> {
  const pins = await fallbackIfUnreadable(store.setting(PINS), null)
  return (typeof pins === 'object' && pins !== null && !Array.isArray(pins) ? pins : {}) as unknown as Pins
}

/** `pin`: null removes the approval. */
export async function writePin(store: Store, name: string, pin: PluginPin | null): Promise<void> {
  const { [name]: _, ...others } = await readPins(store)
  const value = (pin === null ? others : { ...others, [name]: pin }) as Json
  await commitOne(store, [{ op: 'set', name: PINS, value }])
}

export const pinOf = (pins: Pins, name: string): PluginPin | undefined =>
  Object.hasOwn(pins, name) ? pins[name] : undefined

/** Contract: null if these files are approved as they are, else a state and the error that says why not. */
export function checkPin(
  { name, trust }: PluginManifest,
  plugin: PluginFiles,
  pin: PluginPin | undefined,
): { readonly state: 'changed' | 'unapproved'; readonly error: TirelessError } | null {
  const refuse = (what: string, got?: string): TirelessError =>
    new TirelessError('plugin_unapproved', {
      ...{ what, where: pluginLabel(name), got },
      fix: `review it, then run \`tireless plugins approve ${name}\``,
    })
  if (!pin) return { state: 'unapproved', error: refuse('you have not approved this plugin') }
  if (pin.digest !== plugin.digest)
    return { state: 'changed', error: refuse('the plugin changed after its approval', changedFile(plugin, pin)) }
  if (trust === 'trusted' && pin.trust !== 'trusted')
    return { state: 'changed', error: refuse('you approved it as sandboxed, and the configuration trusts it') }
  return null
}

/** The first file that differs from the approved one, in words. */
function changedFile({ hashes }: PluginFiles, pin: PluginPin): string {
  const paths = [...new Set([...Object.keys(pin.files), ...Object.keys(hashes)])].toSorted()
  const path = paths.find((each) => pin.files[each] !== hashes[each]) ?? 'another file'
  if (hashes[path] === undefined) return `${path} is missing`
  return pin.files[path] === undefined ? `${path} is new` : `${path} differs`
}
