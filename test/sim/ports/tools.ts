/** One tool of every effect class. Their effects go to the ground truth; their results report them truthfully. */

import { z } from 'zod'
import { finishTool } from '../../../src/adapters/tools/finish.ts'
import { waitTool } from '../../../src/adapters/tools/wait.ts'
import type { CallResult } from '../../../src/domain/decision.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import { defineTool } from '../../../src/ports/define-tool.ts'
import type { AnyTool, ProbeResult, Tool, ToolContext } from '../../../src/ports/tool.ts'
import { EFFECTS, RESULT_LABELS } from '../ground-truth.ts'
import { checkEffect } from '../invariants/effects.ts'
import { TOOL_NAMES, type ToolName } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import { integerBelow } from '../random.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'

const args = z.strictObject({ n: z.number() })
type Args = z.infer<typeof args>

const HANG_MS = 600_000
/** Events until SIGTERM for a process whose tool ignores the abort. */
const LONGEST_PATIENCE = 20
const PROBING_TOOLS: readonly ToolName[] = ['book', 'edit', 'pay']

export function simTools(world: World, proc: SimProcess): ReadonlyMap<string, AnyTool> {
  const tools = [...TOOL_NAMES.map((name) => toolNamed(world, proc, name)), waitTool, finishTool]
  return new Map(tools.map((tool) => [tool.name, tool]))
}

function toolNamed(world: World, proc: SimProcess, name: ToolName): AnyTool {
  const { recovery } = EFFECTS[name]
  const gives = RESULT_LABELS[name]
  return defineTool<Args>({
    name,
    description: name,
    args,
    effect: () => EFFECTS[name],
    ...(gives ? { gives: () => gives } : {}),
    run: (given, context) => run(world, proc, name, given, context),
    ...(recovery === 'reconcilable' ? { before: () => before(world, proc, name) } : {}),
    ...(PROBING_TOOLS.includes(name) ? { probe: (_, __, context) => probe(world, proc, context) } : {}),
    ...(recovery === 'once' ? { remains: (_, context) => remains(world, proc, context) } : {}),
    ...(recovery === 'once' ? { settled: ({ call }) => world.io(proc, 'settled', call, () => {}) } : {}),
  } satisfies Tool<Args>)
}

async function run(
  world: World,
  proc: SimProcess,
  name: ToolName,
  given: Args,
  { call, signal, env }: ToolContext,
): Promise<CallResult> {
  const trouble = world.faults.nextFor('tool')?.trouble ?? lateTrouble(world, call)
  const broke = (): never => {
    throw new TirelessError('tool_failed', 'it broke')
  }
  const abortHandling = {
    signal,
    onAbort: (): never => {
      throw new TirelessError('aborted', 'interrupted')
    },
  }
  const happen = (): void => {
    if (trouble === 'throw') broke()
    checkEffect(world, proc, ...world.truth.happen(proc, name, call, JSON.stringify(given)))
    if (name === 'edit') world.workspaces.write(env.root, given.n)
    if (name === 'edit') world.versionedFiles.write(env.root, given.n, call)
  }
  const label = `${name} ${call}`
  const result = (): CallResult => (trouble === 'throw_after' ? broke() : { status: 'ok', content: `${name} is done` })
  if (trouble === 'ignores_abort') {
    proc.termAt = world.events + integerBelow(world.plan.seed, LONGEST_PATIENCE, 'deaf', call)
    return world.ioAfter(proc, HANG_MS, { kind: 'tool', label, work: happen }).then(result)
  }
  await (trouble === 'hang'
    ? world.ioAfter(proc, HANG_MS, { kind: 'tool', label, work: happen, abortHandling })
    : world.io(proc, 'tool', label, happen, abortHandling))
  return world.io(proc, 'done', label, () => orGarbage(world, proc, 'tool', result()), abortHandling)
}

/** A hang, if the plan delays this call of a cycle's dispatch. */
function lateTrouble(world: World, call: string): 'hang' | undefined {
  if (!call.startsWith('kernel-agent') || !world.faults.nextFor('late')) return undefined
  world.counters.add('cycle with a late dispatch')
  return 'hang'
}

function before(world: World, proc: SimProcess, name: ToolName): Promise<{ seen: number }> {
  const breaks = world.faults.nextFor('before') !== undefined
  return world.io(proc, 'before', name, () => {
    if (breaks) throw new TirelessError('tool_failed', 'it broke')
    return { seen: world.truth.all().length }
  })
}

function probe(world: World, proc: SimProcess, { call, signal }: ToolContext): Promise<ProbeResult> {
  const trouble = world.faults.nextFor('probe')?.trouble
  const onAbort = (): never => {
    throw new TirelessError('aborted', 'interrupted')
  }
  const look = (): ProbeResult => {
    if (trouble === 'throw') {
      world.counters.add('probe: threw')
      throw new TirelessError('tool_failed', 'it broke')
    }
    const kind = trouble === 'unclear' ? 'unclear' : world.truth.has(call) ? 'happened' : 'not'
    world.counters.add(kind === 'not' ? 'probe: did not happen' : `probe: ${kind}`)
    return kind === 'happened' ? { kind, result: { status: 'ok', content: 'it is so' } } : { kind }
  }
  return world.io(proc, 'probe', call, look, { signal, onAbort })
}

function remains(world: World, proc: SimProcess, { call, signal }: ToolContext): Promise<string> {
  const breaks = world.faults.nextFor('remains') !== undefined
  const onAbort = (): never => {
    throw new TirelessError('aborted', 'interrupted')
  }
  const look = (): string => {
    if (breaks) {
      world.counters.add('read of remaining output threw')
      throw new TirelessError('tool_failed', 'it broke')
    }
    return `output of ${call}`
  }
  return world.io(proc, 'remains', call, look, { signal, onAbort })
}
