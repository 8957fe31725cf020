/**
 * Finds the destinations of a call. For a tool that does not declare them, every argument counts as a destination
 * unless its name marks it as content.
 */

import type { Json } from '../domain/json.ts'
import { parseWebAddress } from './links.ts'

/** Argument names for content, time and quantity. `page` and `endpoint` are not listed: they can be addresses. */
const CONTENT_NAMES = new RegExp(
  `^(?:${[
    'body|texts?|contents?|message|subject|title|caption|description|notes?|comment|summary|reason',
    'markdown|html|date|day|time|when|since|until|start|end|duration|timezone|amount|quantity|count|limit',
    'offset|n|format|language|priority|recurring|rating|emoji|page_number|size',
  ].join('|')})$`,
  'i',
)
/** An argument with this whole name is content. As the last word it is not: `recipient_details` can be an address. */
const CONTENT_AS_WHOLE_NAME = /^details?$/i
/** Argument names whose numeric value is a count, not an address: which page of a list, how many items. */
const COUNT_NAMES =
  /^(?:page|index|max|min|top|depth|width|height|version|timeout|seconds|minutes|hours|days|weeks|year|month)$/i

/** Argument names for amounts. A wrong amount does harm even if the recipient is right. */
const AMOUNT_NAMES = /^(?:amount|sum|total|price|cost|fee|quantity|qty|units|shares|value|balance|limit|percentage)$/i
/** Argument names that decide who sees something, who may access it, or what is attached. */
const HARMFUL_NAMES = new RegExp(
  [
    'attach|file|visib|audience|access|role|permission|scope|shar(?:e|ed|ing)|public|privacy|^cc$|bcc',
    'recipient|invite|member|attendee|guest|follower|forward',
  ].join('|'),
  'i',
)

export function findDestinations(args: Json): readonly string[] {
  return collectDestinations('', args, true)
}

/** Adds the host, unless one of the destinations is already an address on that host. */
export function addHost(destinations: readonly string[], host: string | undefined): readonly string[] {
  return host === undefined ||
    destinations.some((one) => parseWebAddress(one)?.host === host.toLowerCase().replace(/:\d+$/, ''))
    ? destinations
    : [host, ...destinations]
}

/** Splits `ann@home.test, eve@evil.test` into two addresses. */
export function splitAddressList(destination: string): readonly string[] {
  if (!destination.includes('@') || !/[\s,;|<>"]/.test(destination)) return [destination]
  return destination.split(/[\s,;|<>"]+/).filter((one) => one !== '')
}

function collectDestinations(name: string, value: Json, isTop = false): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((one) => collectDestinations(name, one))
  // Search objects even under a content name: their fields may hold a destination.
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => [
      ...(isTop || /^[a-z_][\w-]*$/i.test(key) ? [] : [key]),
      ...collectDestinations(key, inner),
    ])
  if (isContent(name)) return []
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  return typeof value === 'number' && !COUNT_NAMES.test(lastWordOf(name)) ? [String(value)] : []
}

/** Tests the last word of the name: `message_body` and `messageBody` are both a body. */
const isContent = (name: string): boolean => CONTENT_NAMES.test(lastWordOf(name)) || CONTENT_AS_WHOLE_NAME.test(name)

const lastWordOf = (name: string): string => name.split(/[_\-.]|(?<=[a-z\d])(?=[A-Z])/).at(-1) ?? ''

/** Arguments that can do harm even if the destination is right. */
export interface HarmfulParts {
  /** Values of arguments for attachments, audiences and access rights. */
  readonly names: readonly string[]
  readonly amounts: readonly number[]
  /** Names of boolean arguments. */
  readonly switches: readonly string[]
}

export function findHarmfulParts(args: Json, name = ''): HarmfulParts {
  if (typeof args === 'object' && args !== null) {
    const parts = Array.isArray(args)
      ? (args as readonly Json[]).map((one) => findHarmfulParts(one, name))
      : Object.entries(args).map(([key, inner]) => findHarmfulParts(inner, key))
    return {
      names: parts.flatMap(({ names }) => names),
      amounts: parts.flatMap(({ amounts }) => amounts),
      switches: parts.flatMap(({ switches }) => switches),
    }
  }
  const isAmount = AMOUNT_NAMES.test(lastWordOf(name))
  const number = typeof args === 'string' && isAmount ? parseAmount(args) : args
  return {
    names: typeof args === 'string' && args.trim() !== '' && !isContent(name) && HARMFUL_NAMES.test(name) ? [args] : [],
    amounts: typeof number === 'number' && isAmount ? [number] : [],
    switches: typeof args === 'boolean' ? [name] : [],
  }
}

function parseAmount(text: string): number | undefined {
  const digits = text.replaceAll(/[^\d.-]/g, '')
  return digits === '' ? undefined : Number(digits)
}
