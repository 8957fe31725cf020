/** The runs of a day by what came of them; a failure that repeats is one. Pure. */

interface Listed {
  readonly agent_id: string | null
  readonly title: string
}

interface Repeated<Item> {
  /** The last one. */
  readonly item: Item
  readonly count: number
}

/** Contract: the last of each agent and task, with how many there are, in the order of the first ones. */
export function groupRepeated<Item extends Listed>(items: readonly Item[]): readonly Repeated<Item>[] {
  const groups = Map.groupBy(items, ({ agent_id, title }) => `${agent_id}\n${title}`)
  return [...groups.values()].flatMap((group) => {
    const item = group.at(-1)
    return item ? [{ item, count: group.length }] : []
  })
}

interface RunsByEnd<Run> {
  /** Done, or at work. */
  readonly done: readonly Run[]
  readonly failed: readonly Repeated<Run>[]
  /** They wait, have not started, or were cancelled. */
  readonly open: readonly Run[]
}

export function runsByEnd<Run extends Listed & { readonly status: string }>(runs: readonly Run[]): RunsByEnd<Run> {
  const isDone = ({ status }: Run): boolean => status === 'done' || status === 'running'
  const isFailed = ({ status }: Run): boolean => status === 'failed' || status === 'dead'
  return {
    done: runs.filter(isDone),
    failed: groupRepeated(runs.filter(isFailed)),
    open: runs.filter((run) => !isDone(run) && !isFailed(run)),
  }
}
