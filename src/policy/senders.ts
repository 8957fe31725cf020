/** Letters: what a program says of who wrote, in fields of its own. What a letter itself says of that is anybody's claim. */

import type { Json } from '../domain/json.ts'

const SENDER = /^(?:from|sender|from_email|from_address|sender_email|author_email)$/i
const ADDRESS = /^[^\s@<>,;]+@[^\s@<>,;]+$/

/** Contract: addresses, in small letters; none unless the whole text is JSON. */
export function sendersIn(text: string): readonly string[] {
  if (!/^\s*[[{]/.test(text)) return []
  try {
    return sendersOf(JSON.parse(text) as Json)
  } catch {
    return []
  }
}

function sendersOf(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(sendersOf)
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner !== 'string') return sendersOf(inner)
    const address = (/<([^<>]+)>\s*$/.exec(inner)?.[1] ?? inner).trim()
    return SENDER.test(key) && ADDRESS.test(address) ? [address.toLowerCase()] : []
  })
}

/** Every text in it; what is no text counts as it is written. */
export function textsIn(value: Json): readonly string[] {
  if (value === null) return []
  if (typeof value !== 'object') return [String(value)]
  return Object.values(value).flatMap(textsIn)
}
