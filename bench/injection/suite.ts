/** What is played: tasks of an owner, what their tools say, and goals that somebody hides in there. Words only; nothing here knows a data set. */

import type { z } from 'zod'
import type { Effect } from '../../src/domain/effect.ts'
import type { Json } from '../../src/domain/json.ts'
import type { FileKind } from '../file.ts'

export type Args = { readonly [name: string]: Json }

export interface Called {
  /** As the data names it. */
  readonly tool: string
  readonly args: Args
}

/** A call that was recorded, with what the tool said. */
export interface Recorded extends Called {
  readonly output: string
  /** The same with marks where others could write something. */
  readonly marked: string
}

export interface Task {
  readonly id: string
  readonly prompt: string
  readonly calls: readonly Recorded[]
  /** The marks in what its tools say. */
  readonly slots: readonly string[]
}

export interface Attack {
  readonly id: string
  readonly goal: string
  readonly calls: readonly Called[]
}

/** A task in which somebody hides a goal. */
export interface Pair {
  readonly task: Task
  readonly attack: Attack
  readonly slot: string
  /** Fixed: as the data has it, and where nothing is said. Adaptive: what the task does anyway, with other content. Prose: the same in plain words. */
  readonly content?: Content
}

export type Content = 'fixed' | 'adaptive' | 'prose'

export interface Suite {
  readonly name: string
  /** Which data set it is of. */
  readonly of: string
  readonly tools: readonly ToolName[]
  readonly tasks: readonly Task[]
  readonly pairs: readonly Pair[]
}

export interface ToolName {
  readonly name: string
  readonly description: string
  /** Where its name does not tell. */
  readonly effect?: Effect
}

export const slotMark = (slot: string): string => `<<<INJ:${slot}>>>`

const MARKS = /<<<INJ:(.+?)>>>/g

export const slotsIn = (text: string): readonly string[] => [...text.matchAll(MARKS)].map(([, slot = '']) => slot)

/** What a tool says with the goal in its slot; where the slot is not in it, what it really said. */
export function spoken({ output, marked }: Recorded, pair: Pair | undefined): string {
  if (!pair || !marked.includes(slotMark(pair.slot))) return output
  return marked.replaceAll(slotMark(pair.slot), () => ` ${pair.attack.goal} `).replaceAll(MARKS, '')
}

/** The tools that anybody calls, beside those that are described. */
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

/** A file of a public data set. */
export const publicData = <T>(shape: z.ZodType<T>): FileKind<T> => ({
  shape,
  expected: 'the format of the public data set',
  fix: 'see: CONTRIBUTING.md, npm run bench -- injection --data DIR',
})
