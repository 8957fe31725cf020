/** JSON patch: the difference of two values. Exact, so that a state can be rebuilt from its patches alone. */

import type { Json } from './json.ts'

export type Patch =
  /** Replaces the value. */
  | { readonly set: Json }
  /** For an object: changed keys, removed keys. */
  | { readonly keys?: Readonly<Record<string, Patch>>; readonly gone?: readonly string[] }
  /** For a list: it is truncated to `length`, then some items are changed, then others appended. */
  | {
      readonly length: number
      readonly items?: Readonly<Record<string, Patch>>
      readonly added?: readonly Json[]
    }

/** Returns undefined if the values are equal. */
export function patchBetween(before: Json, after: Json): Patch | undefined {
  if (Object.is(before, after)) return undefined
  if (isList(before) && isList(after)) return listPatch(before, after)
  if (isObject(before) && isObject(after)) return objectPatch(before, after)
  return { set: after }
}

export function applyPatch(before: Json, patch: Patch): Json {
  if ('set' in patch) return patch.set
  if ('length' in patch) {
    if (!isList(before)) throw new Error('the patch is for a list, but the value is no list')
    const kept = before.slice(0, patch.length)
    for (const [index, inner] of Object.entries(patch.items ?? {}))
      kept[Number(index)] = applyPatch(before[Number(index)] ?? null, inner)
    return [...kept, ...(patch.added ?? [])]
  }
  if (!isObject(before)) throw new Error('the patch is for an object, but the value is no object')
  const gone = new Set(patch.gone ?? [])
  const entries = Object.entries(before).filter(([key]) => !gone.has(key) && !Object.hasOwn(patch.keys ?? {}, key))
  const changed = Object.entries(patch.keys ?? {}).map(([key, inner]): [string, Json] => [
    key,
    applyPatch(Object.hasOwn(before, key) ? (before[key] ?? null) : null, inner),
  ])
  return Object.fromEntries([...entries, ...changed])
}

function objectPatch(before: JsonObject, after: JsonObject): Patch | undefined {
  const keys: [string, Patch][] = []
  for (const [key, value] of Object.entries(after)) {
    const patch = Object.hasOwn(before, key) ? patchBetween(before[key] ?? null, value) : { set: value }
    if (patch) keys.push([key, patch])
  }
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  if (keys.length === 0 && gone.length === 0) return undefined
  return { ...(keys.length > 0 ? { keys: Object.fromEntries(keys) } : {}), ...(gone.length > 0 ? { gone } : {}) }
}

function listPatch(before: readonly Json[], after: readonly Json[]): Patch | undefined {
  const length = Math.min(before.length, after.length)
  const items: [string, Patch][] = []
  for (let i = 0; i < length; i++) {
    const patch = patchBetween(before[i] ?? null, after[i] ?? null)
    if (patch) items.push([String(i), patch])
  }
  const added = after.slice(length)
  if (items.length === 0 && added.length === 0 && length === before.length) return undefined
  return {
    length,
    ...(items.length > 0 ? { items: Object.fromEntries(items) } : {}),
    ...(added.length > 0 ? { added } : {}),
  }
}

type JsonObject = { readonly [key: string]: Json }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
