/**
 * Pins: the stored record of each server tool as the owner approved it, with description and schema. A server could
 * change a description to instruct the model, so a changed tool waits for approval. Pure.
 */

import { hash } from 'node:crypto'
import { canonicalJson } from '../../domain/approval.ts'
import { unifiedDiff } from '../../domain/diff.ts'
import type { Json } from '../../domain/json.ts'

/** A tool as a server describes it. */
export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly schema: Json
  /** True if the server marks the tool as read-only. */
  readonly readOnly: boolean
}

/** A server's description of a tool, as it was stored when it was first seen. */
export type PinnedTool = {
  readonly description: string
  readonly schema: Json
  readonly digest: string
  readonly seen_at: string
  /** True if the server marked the tool as read-only; undefined in pins of older versions, which did not store this. */
  readonly read_only?: boolean
}

/** `approved`: null for a new tool. `offered`: the server's current description if it is not approved, else null. */
export type Pin = { readonly approved: PinnedTool | null; readonly offered: PinnedTool | null }

/** The pins of one server. The keys are tool names as the server gives them. */
export type Pins = { readonly [tool: string]: Pin }

/** Contract: the approved description; undefined if the tool is new or has changed since. */
export const approvedTool = ({ approved, offered }: Pin): PinnedTool | undefined =>
  offered === null && approved !== null ? approved : undefined

/**
 * Contract: adds the listed tools to the pins. On the first list of a server (`known` is undefined) all its tools are
 * approved, because the owner configured the server; later, new and changed tools wait for approval.
 */
export function mergePins(known: Pins | undefined, listed: readonly ListedTool[], seen_at: string): Pins {
  const pins = new Map<string, Pin>(Object.entries(known ?? {}))
  for (const tool of listed) {
    const seen: PinnedTool = {
      ...{ description: tool.description, schema: tool.schema },
      ...{ digest: digestTool(tool), seen_at, read_only: tool.readOnly },
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

const isSame = (before: PinnedTool, seen: PinnedTool): boolean =>
  before.digest === seen.digest && (before.read_only ?? seen.read_only) === seen.read_only

/** Approves the waiting tools, or only the tool `only`. The result's `tools` are the tools that were approved. */
export function approvePins(pins: Pins, only?: string): { readonly pins: Pins; readonly tools: readonly string[] } {
  const tools = toolsAwaitingApproval(pins).filter((tool) => only === undefined || tool === only)
  const approved = tools.map((tool) => [tool, { approved: pins[tool]?.offered ?? null, offered: null }] as const)
  return { pins: { ...pins, ...Object.fromEntries(approved) }, tools }
}

export const toolsAwaitingApproval = (pins: Pins): readonly string[] =>
  Object.entries(pins).flatMap(([tool, { offered }]) => (offered === null ? [] : [tool]))

/** Contract: a diff between the approved and the offered description; empty if nothing waits for approval. */
export function diffPin(tool: string, { approved, offered }: Pin): string {
  if (offered === null) return ''
  const side = (name: string, of: PinnedTool | null) => ({
    name: `${tool} (${name})`,
    text: of === null ? '' : describeTool(of),
  })
  return unifiedDiff(side(approved === null ? 'new' : 'approved', approved), side('now', offered))
}

const describeTool = ({ description, schema, read_only }: PinnedTool): string =>
  `${description}\n${JSON.stringify(schema, null, 2)}\n${read_only ? 'marked as read-only\n' : ''}`

function digestTool({ name, description, schema }: ListedTool): string {
  return hash('sha256', canonicalJson([name, description, schema]))
}
