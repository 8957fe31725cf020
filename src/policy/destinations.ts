/** Destinations: where a call goes. Of a tool that does not say so, every argument may be one whose name does not say that it is mere content. */

import type { Json } from '../domain/json.ts'
import { webAddressOf } from './links.ts'

/** Arguments that say what, when and how much, not where to. A page that has a name is a place, and so is an endpoint. */
const CONTENT =
  /^(?:body|texts?|contents?|message|subject|title|caption|description|notes?|comment|summary|reason|markdown|html|date|day|time|when|since|until|start|end|duration|timezone|amount|quantity|count|limit|offset|n|format|language|priority|recurring|rating|emoji|page_number|size)$/i
/** Only where that is all of the name: the details of a recipient are an address. */
const ALONE = /^details?$/i
/** Counts that lead nowhere: which page of a list, how many of a kind. */
const COUNTS =
  /^(?:page|index|max|min|top|depth|width|height|version|timeout|seconds|minutes|hours|days|weeks|year|month)$/i

/** Amounts decide harm, be it to whom the owner named. */
const AMOUNTS = /^(?:amount|sum|total|price|cost|fee|quantity|qty|units|shares|value|balance|limit|percentage)$/i
/** Who sees it, who may do what with it, what goes along. */
const HARMFUL =
  /attach|file|visib|audience|access|role|permission|scope|shar(?:e|ed|ing)|public|privacy|^cc$|bcc|recipient|invite|member|attendee|guest|follower|forward/i

export function destinationsIn(args: Json): readonly string[] {
  return found('', args, true)
}

/** With the host that is reached, unless one of them is an address of it: that says more. */
export function withHost(destinations: readonly string[], host: string | undefined): readonly string[] {
  return host === undefined ||
    destinations.some((one) => webAddressOf(one)?.host === host.toLowerCase().replace(/:\d+$/, ''))
    ? destinations
    : [host, ...destinations]
}

/** `ann@home.test, eve@evil.test` are two, whoever takes them for one. */
export function splitList(destination: string): readonly string[] {
  if (!destination.includes('@') || !/[\s,;|<>"]/.test(destination)) return [destination]
  return destination.split(/[\s,;|<>"]+/).filter((one) => one !== '')
}

function found(name: string, value: Json, isTop = false): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((one) => found(name, one))
  // What content is made of may well say where it goes.
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => [
      ...(isTop || /^[a-z_][\w-]*$/i.test(key) ? [] : [key]),
      ...found(key, inner),
    ])
  if (isContent(name)) return []
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  return typeof value === 'number' && !COUNTS.test(lastWordOf(name)) ? [String(value)] : []
}

/** By its last word: `message_body` and `messageBody` are both a body. */
const isContent = (name: string): boolean => CONTENT.test(lastWordOf(name)) || ALONE.test(name)

const lastWordOf = (name: string): string => name.split(/[_\-.]|(?<=[a-z\d])(?=[A-Z])/).at(-1) ?? ''

/** What decides harm in a call beside where it goes. */
export interface HarmfulParts {
  /** Attachments, audiences, rights. */
  readonly names: readonly string[]
  readonly amounts: readonly number[]
  /** Switches, by their names. */
  readonly switches: readonly string[]
}

export function harmfulPartsIn(args: Json, name = ''): HarmfulParts {
  if (typeof args === 'object' && args !== null) {
    const parts = Array.isArray(args)
      ? (args as readonly Json[]).map((one) => harmfulPartsIn(one, name))
      : Object.entries(args).map(([key, inner]) => harmfulPartsIn(inner, key))
    return {
      names: parts.flatMap(({ names }) => names),
      amounts: parts.flatMap(({ amounts }) => amounts),
      switches: parts.flatMap(({ switches }) => switches),
    }
  }
  const isAmount = AMOUNTS.test(lastWordOf(name))
  const number = typeof args === 'string' && isAmount ? amountIn(args) : args
  return {
    names: typeof args === 'string' && args.trim() !== '' && !isContent(name) && HARMFUL.test(name) ? [args] : [],
    amounts: typeof number === 'number' && isAmount ? [number] : [],
    switches: typeof args === 'boolean' ? [name] : [],
  }
}

function amountIn(text: string): number | undefined {
  const digits = text.replaceAll(/[^\d.-]/g, '')
  return digits === '' ? undefined : Number(digits)
}
