/** The runs that a run started, as commands show them. */

import { titleOfRun } from '../../domain/title.ts'
import type { Store } from '../../ports/store.ts'
import type { Needs } from './context.ts'
import { filesWrittenBy } from './written-files.ts'

async function listChildren({ childrenOf }: Pick<Store, 'childrenOf'>, dispatchId: string) {
  const children = await childrenOf(dispatchId)
  return children.map(({ dispatch_id, agent_id, status, prompt, metadata }) => {
    return { dispatch_id, agent_id, status, title: titleOfRun(prompt, metadata.behaviour) }
  })
}

/** The files that a run wrote, and the runs that it started. */
export async function filesAndChildren(context: Needs<'snapshots' | 'store'>, dispatchId: string) {
  const files = [...(await filesWrittenBy(context, dispatchId))]
  return { files, children: await listChildren(context.store, dispatchId) }
}
