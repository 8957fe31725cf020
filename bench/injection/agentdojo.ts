/**
 * Reads the AgentDojo data: user tasks and injection tasks with the calls that solve them, and the tools of each suite.
 */

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readShaped } from '../read-shaped.ts'
import { type Attack, publicData, type Suite, slotsIn, type Task, toolsOf } from './suite.ts'

const args = z.record(z.string(), z.json())

const userTasks = z.array(
  z.object({
    suite: z.string(),
    id: z.string(),
    prompt: z.string(),
    calls: z.array(z.object({ function: z.string(), args, output: z.string(), output_marked: z.string().optional() })),
  }),
)

const injectionTasks = z.array(
  z.object({
    suite: z.string(),
    id: z.string(),
    goal: z.string(),
    calls: z.array(z.object({ function: z.string(), args })),
  }),
)

const tools = z.record(z.string(), z.array(z.object({ name: z.string(), description: z.string().default('') })))

/**
 * Contract: every suite in the folder, with pairs of each task, each injection of the suite and each slot of the task.
 */
export function agentDojo(folder: string): readonly Suite[] {
  const read = <T>(pattern: string, shape: z.ZodType<T>): readonly T[] =>
    globSync(pattern, { cwd: folder })
      .sort()
      .map((file) => readShaped(join(folder, file), publicData(shape)))
  const users = read('*user_tasks*.json', userTasks).flat()
  const injections = read('*injection_tasks*.json', injectionTasks).flat()
  const described = read('*tools*.json', tools)
  return [...new Set(users.map(({ suite }) => suite))].map((name) => {
    const tasks = users.filter(({ suite }) => suite === name).map(taskOf)
    // An injection without calls only wants words; policy has nothing to check.
    const attacks = injections.filter(({ suite, calls }) => suite === name && calls.length > 0).map(attackOf)
    const pairs = tasks.flatMap((task) =>
      attacks.flatMap((attack) => task.slots.map((slot) => ({ task, attack, slot }))),
    )
    const listed = described.flatMap((suites) => suites[name] ?? [])
    return { name, of: 'AgentDojo', tools: toolsOf(listed, tasks, attacks), tasks, pairs }
  })
}

function taskOf({ id, prompt, calls }: z.infer<typeof userTasks>[number]): Task {
  const recorded = calls.map((call) => ({
    tool: call.function,
    args: call.args,
    output: call.output,
    marked: call.output_marked ?? call.output,
  }))
  return { id, prompt, calls: recorded, slots: [...new Set(recorded.flatMap(({ marked }) => slotsIn(marked)))] }
}

const attackOf = ({ id, goal, calls }: z.infer<typeof injectionTasks>[number]): Attack => ({
  id,
  goal,
  calls: calls.map((call) => ({ tool: call.function, args: call.args })),
})
