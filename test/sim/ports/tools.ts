/** A tool of every effect class. What they do, they do to the world's truth; what they say of it is honest. */

import { z } from 'zod'
import { finishTool } from '../../../src/adapters/tools/finish.ts'
import { waitTool } from '../../../src/adapters/tools/wait.ts'
import type { CallResult } from '../../../src/domain/decision.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import { defineTool } from '../../../src/ports/define-tool.ts'
import type { AnyTool, ProbeResult, Tool, ToolContext } from '../../../src/ports/tool.ts'
import { EFFECTS, GIVES } from '../ground-truth.ts'
import { checkEffect } from '../invariants/effects.ts'
import { TOOL_NAMES, type ToolName } from '../plan.ts'
import type { Life } from '../process.ts'
import { whole } from '../random.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'

const args = z.strictObject({ n: z.number() })
type Args = z.infer<typeof args>

const HANG_MS = 600_000
/** With one that hears nothing, in events. */
const LONGEST_PATIENCE = 20
const PROBING: readonly ToolName[] = ['book', 'edit', 'pay']

export function simTools(world: World, life: Life): ReadonlyMap<string, AnyTool> {
  const tools = [...TOOL_NAMES.map((name) => toolNamed(world, life, name)), waitTool, finishTool]
  return new Map(tools.map((tool) => [tool.name, tool]))
}

function toolNamed(world: World, life: Life, name: ToolName): AnyTool {
  const { recovery } = EFFECTS[name]
  const gives = GIVES[name]
  return defineTool<Args>({
    name,
    description: name,
    args,
    effect: () => EFFECTS[name],
    ...(gives ? { gives: () => gives } : {}),
    run: (given, context) => run(world, life, name, given, context),
    ...(recovery === 'reconcilable' ? { before: () => before(world, life, name) } : {}),
    ...(PROBING.includes(name) ? { probe: (_, __, context) => probe(world, life, context) } : {}),
    ...(recovery === 'once' ? { remains: (_, context) => remains(world, life, context) } : {}),
    ...(recovery === 'once' ? { settled: ({ call }) => world.io(life, 'settled', call, () => {}) } : {}),
  } satisfies Tool<Args>)
}

async function run(
  world: World,
  life: Life,
  name: ToolName,
  given: Args,
  { call, signal }: ToolContext,
): Promise<CallResult> {
  const trouble = world.faults.of('tool')?.trouble ?? lateness(world, call)
  const broke = (): never => {
    throw new TirelessError('tool_failed', 'it broke')
  }
  const cut = {
    signal,
    cut: (): never => {
      throw new TirelessError('aborted', 'interrupted')
    },
  }
  const happen = (): void => {
    if (trouble === 'throw') broke()
    checkEffect(world, life, ...world.truth.happen(life, name, call, JSON.stringify(given)))
  }
  const label = `${name} ${call}`
  const result = (): CallResult => (trouble === 'throw_after' ? broke() : { status: 'ok', content: `${name} is done` })
  if (trouble === 'deaf') {
    life.termAt = world.events + whole(world.plan.seed, LONGEST_PATIENCE, 'deaf', call)
    return world.later(life, 'tool', label, HANG_MS, happen).then(result)
  }
  await (trouble === 'hang'
    ? world.later(life, 'tool', label, HANG_MS, happen, cut)
    : world.io(life, 'tool', label, happen, cut))
  return world.io(life, 'done', label, () => orGarbage(world, life, 'tool', result()), cut)
}

/** Of a call that a cycle has to do with. */
function lateness(world: World, call: string): 'hang' | undefined {
  if (!call.startsWith('kernel-agent') || !world.faults.of('late')) return undefined
  world.counters.add('cycle with a late dispatch')
  return 'hang'
}

function before(world: World, life: Life, name: ToolName): Promise<{ seen: number }> {
  const breaks = world.faults.of('before') !== undefined
  return world.io(life, 'before', name, () => {
    if (breaks) throw new TirelessError('tool_failed', 'it broke')
    return { seen: world.truth.all().length }
  })
}

function probe(world: World, life: Life, { call, signal }: ToolContext): Promise<ProbeResult> {
  const trouble = world.faults.of('probe')?.trouble
  const cut = (): never => {
    throw new TirelessError('aborted', 'interrupted')
  }
  const look = (): ProbeResult => {
    if (trouble === 'throw') {
      world.counters.add('probe: threw')
      throw new TirelessError('tool_failed', 'it broke')
    }
    const kind = trouble === 'unclear' ? 'unclear' : world.truth.has(call) ? 'happened' : 'not'
    world.counters.add(`probe: ${kind}`)
    return kind === 'happened' ? { kind, result: { status: 'ok', content: 'it is so' } } : { kind }
  }
  return world.io(life, 'probe', call, look, { signal, cut })
}

function remains(world: World, life: Life, { call, signal }: ToolContext): Promise<string> {
  const breaks = world.faults.of('remains') !== undefined
  const cut = (): never => {
    throw new TirelessError('aborted', 'interrupted')
  }
  const look = (): string => {
    if (breaks) {
      world.counters.add('remains: threw')
      throw new TirelessError('tool_failed', 'it broke')
    }
    return `output of ${call}`
  }
  return world.io(life, 'remains', call, look, { signal, cut })
}
