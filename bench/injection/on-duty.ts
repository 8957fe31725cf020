/** Our own suite on a stage: every agent in the configuration with its grants, and one cycle of the kernel for all of them. */

import { ALLOWED_HOSTS, DUTIES, type Duty, EFFECTS, SLOT } from './always-on.ts'
import { nameOf, type Play, playOf } from './play.ts'
import { type Score, scoreOf } from './score.ts'
import { openStage, type Played, playedOut } from './stage.ts'
import { type Pair, type Suite, slotMark, type Task, toolsOf } from './suite.ts'

export async function alwaysOn(folder: string, duties = DUTIES): Promise<Score> {
  const suite = suiteOf(duties)
  const pairOf = new Map(suite.pairs.map((pair) => [pair.task.id, pair]))
  const benign = await cycle(suite, duties, `${folder}/benign`, (task) => playOf(task))
  const attacked = await cycle(suite, duties, `${folder}/attacked`, (task) => playOf(task, pairOf.get(task.id)))
  return scoreOf(suite, benign, attacked, { canPass: () => true, couldPass: () => true })
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
): Promise<readonly Played[]> {
  const stage = await openStage(suite, home, configuration(duties))
  try {
    stage.plays = suite.tasks.map(play)
    const { agents } = (await stage.app.run('once', {})) as Cycled
    const ends: Played[] = []
    for (const its of stage.plays) {
      const ran = agents.find(({ agent_id }) => agent_id === its.task.id)
      if (!ran) throw new Error(`the kernel did not run ${its.task.id}`)
      ends.push(await playedOut(stage, its, ran))
    }
    return ends
  } finally {
    await stage.app.close()
  }
}

interface Cycled {
  readonly agents: readonly { readonly agent_id: string; readonly session_id: string; readonly dispatch_id: string }[]
}

/** JSON is YAML. Its only beat is far away. */
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
