/** What a session is told when the home that has its files is away, and its work goes on in another. */

import type { Observation } from './observation.ts'

const WORKSPACE_MOVED = 'workspace_moved'

/** `home`: the home that is away; `workspace`: the path of the files there. */
export const movedObservation = (
  home: { readonly home: string; readonly host: string; readonly last_seen: string | null },
  workspace: string,
  now: number,
): Observation => ({
  ...{
    id: `${WORKSPACE_MOVED}-${home.home}-${now}`,
    type: 'system_event',
    name: WORKSPACE_MOVED,
    ts: now,
    quiet: true,
  },
  payload: {
    machine: home.host,
    last_seen: home.last_seen,
    files: workspace,
    note:
      `The machine ${home.host}, on which you worked so far, is away. You go on in a folder on another machine. ` +
      `Files that are missing here were not deleted: they are on ${home.host} in ${workspace}. ` +
      'Look at what is here before you use a file, make again only what the task needs, and say in your answer ' +
      'which files stayed behind.',
  },
})
