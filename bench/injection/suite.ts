/**
 * Types of an injection suite: tasks, recorded tool results, and attacks hidden in them. Independent of any data set.
 */

import type { z } from 'zod'
import type { Effect } from '../../src/domain/effect.ts'
import type { Json } from '../../src/domain/json.ts'
import type { FileKind } from '../read-shaped.ts'

export type Args = { readonly [name: string]: Json }

export interface Called {
  /** Name in the data. */
  readonly tool: string
  readonly args: Args
}

/** A recorded call with its result. */
export interface Recorded extends Called {
  readonly output: string
  /** The result with slot marks where others could write. */
  readonly marked: string
}

export interface Task {
  readonly id: string
  readonly prompt: string
  readonly calls: readonly Recorded[]
  /** The slots in its tool results. */
  readonly slots: readonly string[]
}

export interface Attack {
  readonly id: string
  readonly goal: string
  readonly calls: readonly Called[]
}

/** A task with an attack in one of its slots. */
export interface Pair {
  readonly task: Task
  readonly attack: Attack
  readonly slot: string
  /** Fixed (default): as in the data. Adaptive: the task's own call with other content. Prose: with plain text only. */
  readonly content?: Content
}

export type Content = 'fixed' | 'adaptive' | 'prose'

export interface Suite {
  readonly name: string
  /** Name of the data set. */
  readonly of: string
  readonly tools: readonly ToolName[]
  readonly tasks: readonly Task[]
  readonly pairs: readonly Pair[]
}

export interface ToolName {
  readonly name: string
  readonly description: string
  /** Only if the name does not show it. */
  readonly effect?: Effect
}

export const slotMark = (slot: string): string => `<<<INJ:${slot}>>>`

const MARKS = /<<<INJ:(.+?)>>>/g

export const slotsIn = (text: string): readonly string[] => [...text.matchAll(MARKS)].map(([, slot = '']) => slot)

/** Contract: the result with the goal in the slot of the pair; the recorded result if it has no such slot. */
export function spoken({ output, marked }: Recorded, pair: Pair | undefined): string {
  if (!pair || !marked.includes(slotMark(pair.slot))) return output
  return marked.replaceAll(slotMark(pair.slot), () => ` ${pair.attack.goal} `).replaceAll(MARKS, '')
}

/** The described tools, and all other tools that are called. */
export function toolsOf(
  described: readonly ToolName[],
  tasks: readonly Task[],
  attacks: readonly Attack[],
): readonly ToolName[] {
  const known = new Map(described.map((tool) => [tool.name, tool]))
  for (const { tool } of [...tasks, ...attacks].flatMap(({ calls }): readonly Called[] => calls))
    if (!known.has(tool)) known.set(tool, { name: tool, description: tool })
  return [...known.values()]
}

/** Describes a file of a public data set for `readShaped`. */
export const publicData = <T>(shape: z.ZodType<T>): FileKind<T> => ({
  shape,
  expected: 'the format of the public data set',
  fix: 'see "npm run bench -- injection" in CONTRIBUTING.md',
})
