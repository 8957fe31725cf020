/**
 * Pins: each tool of a server as its owner has approved it. A server that says something else of a tool than before could be telling the
 * model what to do; so what changed waits for the owner's word. Pure.
 */

import { hash } from 'node:crypto'
import { canonical } from '../../domain/approval.ts'
import type { Json } from '../../domain/json.ts'
import { unifiedDiff } from '../../domain/lines.ts'

/** A tool as a server describes it. */
export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly schema: Json
  /** The server says of it that it changes nothing. */
  readonly readOnly: boolean
}

/** The same, once it was seen. */
export type Described = {
  readonly description: string
  readonly schema: Json
  readonly digest: string
  readonly seen_at: string
  /** Whether the server marked it as read-only; undefined where it was seen before anybody kept that. */
  readonly read_only?: boolean
}

/** `offered`: what the server says of it now, where that is not what was approved. */
export type Pin = { readonly approved: Described | null; readonly offered: Described | null }

/** By the tool's own name. */
export type Pins = { readonly [tool: string]: Pin }

/** What is approved, and has not changed since. */
export const usable = ({ approved, offered }: Pin): Described | undefined =>
  offered === null && approved !== null ? approved : undefined

/** Contract: at the first sight of a server everything is approved: its owner has configured it. Later on, nothing is by itself. */
export function afterSight(known: Pins | undefined, listed: readonly ListedTool[], seen_at: string): Pins {
  const pins = new Map<string, Pin>(Object.entries(known ?? {}))
  for (const tool of listed) {
    const seen: Described = {
      ...{ description: tool.description, schema: tool.schema },
      ...{ digest: digestOf(tool), seen_at, read_only: tool.readOnly },
    }
    const before = pins.get(tool.name)
    if (known === undefined) pins.set(tool.name, { approved: seen, offered: null })
    else if (before?.approved && isSame(before.approved, seen))
      pins.set(tool.name, { approved: { ...before.approved, read_only: tool.readOnly }, offered: null })
    else if (!before?.offered || !isSame(before.offered, seen))
      pins.set(tool.name, { approved: before?.approved ?? null, offered: seen })
  }
  return Object.fromEntries(pins)
}

const isSame = (before: Described, seen: Described): boolean =>
  before.digest === seen.digest && (before.read_only ?? seen.read_only) === seen.read_only

/** The owner's word on what waits for it; `tools`: those that it was given for. */
export function afterApproval(pins: Pins, only?: string): { readonly pins: Pins; readonly tools: readonly string[] } {
  const tools = waitingIn(pins).filter((tool) => only === undefined || tool === only)
  const approved = tools.map((tool) => [tool, { approved: pins[tool]?.offered ?? null, offered: null }] as const)
  return { pins: { ...pins, ...Object.fromEntries(approved) }, tools }
}

export const waitingIn = (pins: Pins): readonly string[] =>
  Object.entries(pins).flatMap(([tool, { offered }]) => (offered === null ? [] : [tool]))

/** What waits for the owner's word, line by line. */
export function differenceIn(tool: string, { approved, offered }: Pin): string {
  if (offered === null) return ''
  const side = (name: string, of: Described | null) => ({
    name: `${tool} (${name})`,
    text: of === null ? '' : textOf(of),
  })
  return unifiedDiff(
    side(approved === null ? 'not known' : 'approved', approved),
    side('as the server has it', offered),
  )
}

const textOf = ({ description, schema, read_only }: Described): string =>
  `${description}\n${JSON.stringify(schema, null, 2)}\n${read_only ? 'it is marked as read-only\n' : ''}`

function digestOf({ name, description, schema }: ListedTool): string {
  return hash('sha256', canonical([name, description, schema]))
}
