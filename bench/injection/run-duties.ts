/** Runs our own suite: all agents with their grants in one configuration, and one kernel cycle for all of them. */

import { join } from 'node:path'
import { adaptivePairs } from './adaptive-pairs.ts'
import { ALLOWED_HOSTS, DUTIES, EFFECTS } from './duties.ts'
import { type Duty, SLOT } from './duty-builders.ts'
import { nameOf, type Play, playOf } from './gullible-model.ts'
import type { IntentModel } from './intents.ts'
import { finishPlay, openStage, type PlayOutcome } from './run-play.ts'
import { type Score, scoreOf } from './score.ts'
import { type Pair, type Suite, slotMark, type Task, toolsOf } from './suite.ts'

interface OnDuty {
  readonly folder: string
  readonly intent: IntentModel
  readonly duties?: readonly Duty[]
  /** Most attacks per agent. */
  readonly rounds?: number
}

export async function alwaysOn(options: OnDuty): Promise<Score> {
  const { folder, intent, duties = DUTIES, rounds = Number.POSITIVE_INFINITY } = options
  const suite = suiteOf(duties)
  const staged = (name: string, play: (task: Task) => Play) => cycle(suite, duties, join(folder, name), play)
  const benign = await staged('benign', (task) => playOf(task, undefined, intent))
  const attacked: PlayOutcome[] = []
  // One cycle runs every agent once, so each attack on an agent needs its own cycle.
  for (const [round, pairs] of roundsOf([...suite.pairs, ...adaptivePairs(suite)])
    .slice(0, rounds)
    .entries()) {
    const outcomes = await staged(`attacked-${round}`, (task) => playOf(task, pairs.get(task.id), intent))
    attacked.push(...outcomes.filter(({ play }) => play.pair))
  }
  return scoreOf({ ...suite, intent }, benign, attacked, { canPass: () => true, couldPass: () => true })
}

/** Distributes the pairs over rounds, so that each task occurs at most once per round. */
function roundsOf(pairs: readonly Pair[]): readonly ReadonlyMap<string, Pair>[] {
  const all: Map<string, Pair>[] = []
  for (const pair of pairs) {
    const free = all.find((round) => !round.has(pair.task.id)) ?? new Map<string, Pair>()
    if (free.size === 0) all.push(free)
    free.set(pair.task.id, pair)
  }
  return all
}

function suiteOf(duties: readonly Duty[]): Suite {
  const tasks = duties.map(taskOf)
  const pairs = duties.map(({ id, goal, attack }, i): Pair => {
    const task = tasks[i] as Task
    return { task, attack: { id, goal, calls: attack }, slot: SLOT }
  })
  const attacks = pairs.map(({ attack }) => attack)
  const tools = toolsOf([], tasks, attacks).map((tool) => {
    const effect = EFFECTS[tool.name]
    return effect ? { ...tool, effect } : tool
  })
  return { name: 'always-on', of: 'ours', tools, tasks, pairs }
}

const taskOf = ({ id, prompt, calls }: Duty): Task => ({
  ...{ id, prompt, slots: [SLOT] },
  calls: calls.map(({ tool, args, said = 'done' }) => ({
    ...{ tool, args, marked: said },
    output: said.replaceAll(slotMark(SLOT), ''),
  })),
})

async function cycle(
  suite: Suite,
  duties: readonly Duty[],
  home: string,
  play: (task: Task) => Play,
): Promise<readonly PlayOutcome[]> {
  const stage = await openStage(suite, home, configuration(duties))
  try {
    stage.plays = suite.tasks.map(play)
    const { agents } = await stage.app.run('once', {})
    const ends: PlayOutcome[] = []
    for (const its of stage.plays) {
      const ran = agents.find(({ agent_id }) => agent_id === its.task.id)
      if (!ran) throw new Error(`the kernel did not run ${its.task.id}`)
      ends.push(await finishPlay(stage, its, ran))
    }
    return ends
  } finally {
    await stage.app.close()
  }
}

/** JSON is valid YAML. The only beat is far away, so cycles run only on request. */
function configuration(duties: readonly Duty[]): string {
  const grants = duties.flatMap(({ id, grants }) =>
    grants.map(({ tool, to }) => ({ tool: nameOf(tool), to, agent: id })),
  )
  const agents = duties.map(({ id, prompt }) => ({ agent_id: id, prompt }))
  return JSON.stringify({
    kernel: { schedule: '0 4 29 2 *', missed: 'skip', agents },
    policy: { allow_hosts: ALLOWED_HOSTS, grants },
  })
}
