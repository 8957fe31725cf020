/**
 * Finds the senders of messages in a tool's JSON output. Only sender fields of the program count: the text of a
 * message can claim any sender.
 */

import type { Json } from '../domain/json.ts'

const SENDER = /^(?:from|sender|from_email|from_address|sender_email|author_email)$/i
const ADDRESS = /^[^\s@<>,;]+@[^\s@<>,;]+$/

/** Contract: returns addresses in lower case; empty unless the whole text is JSON. */
export function findSenders(text: string): readonly string[] {
  if (!/^\s*[[{]/.test(text)) return []
  try {
    return collectSenders(JSON.parse(text) as Json)
  } catch {
    return []
  }
}

function collectSenders(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(collectSenders)
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner !== 'string') return collectSenders(inner)
    const address = (/<([^<>]+)>\s*$/.exec(inner)?.[1] ?? inner).trim()
    return SENDER.test(key) && ADDRESS.test(address) ? [address.toLowerCase()] : []
  })
}

/** Every string in the value; numbers and booleans as text. */
export function collectTexts(value: Json): readonly string[] {
  if (value === null) return []
  if (typeof value !== 'object') return [String(value)]
  return Object.values(value).flatMap(collectTexts)
}
