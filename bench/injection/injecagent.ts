/**
 * Reads the InjecAgent data. Each test case is a task of one call, whose result contains an instruction to use the
 * attacker's tools. The data has no arguments for those tools, so they get every address of the instruction, and its
 * text.
 */

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readShaped } from '../read-shaped.ts'
import { pythonValue } from './python-literal.ts'
import { type Args, type Attack, type Pair, publicData, type Suite, slotMark, type Task, toolsOf } from './suite.ts'

const testCases = z.array(
  z.object({
    'User Tool': z.string(),
    'User Instruction': z.string(),
    'Tool Parameters': z.string(),
    'Tool Response': z.string(),
    'Tool Response Template': z.string(),
    'Attacker Tools': z.array(z.string()),
    'Attacker Instruction': z.string(),
  }),
)

type TestCase = z.infer<typeof testCases>[number]

const SLOT = 'response'

export function injecAgent(folder: string): readonly Suite[] {
  const files = globSync('test_cases*.json', { cwd: folder }).sort()
  const cases = files.flatMap((file) => readShaped(join(folder, file), publicData(testCases)))
  if (cases.length === 0) return []
  const tasks = new Map<string, Task>()
  const attacks = new Map<string, Attack>()
  const pairs = cases.map((one): Pair => {
    const own = taskOf(one)
    const benign = { ...own, calls: own.calls.map((call) => ({ ...call, marked: call.output })), slots: [] }
    if (!tasks.has(own.id)) tasks.set(own.id, benign)
    const attack = attackOf(one)
    attacks.set(attack.id, attack)
    return { task: own, attack, slot: SLOT }
  })
  const all = [...tasks.values()]
  return [{ name: 'injecagent', of: 'InjecAgent', tools: toolsOf([], all, [...attacks.values()]), tasks: all, pairs }]
}

/** The recorded response contains the goal; its position becomes the slot. */
function taskOf(one: TestCase): Task {
  const goal = one['Attacker Instruction']
  const response = one['Tool Response']
  const marked = response.includes(goal) ? response.replaceAll(goal, slotMark(SLOT)) : `${response} ${slotMark(SLOT)}`
  const output = one['Tool Response Template'].replaceAll('<Attacker Instruction>', '')
  const tool = one['User Tool']
  const given = pythonValue(one['Tool Parameters'])
  const args = typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Args) : { given }
  const id = `${tool} ${one['Tool Parameters']}`
  return { id, prompt: one['User Instruction'], calls: [{ tool, args, output, marked }], slots: [SLOT] }
}

const ADDRESSES = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?:\/\/|www\.)[^\s'"<>,)]+/g

function attackOf(one: TestCase): Attack {
  const goal = one['Attacker Instruction']
  const to = [...new Set(goal.match(ADDRESSES) ?? [])]
  const args: Args = to.length > 0 ? { to, text: goal } : { text: goal }
  return { id: goal, goal, calls: one['Attacker Tools'].map((tool) => ({ tool, args })) }
}
