/** Dispatches for the bench: one session and one workspace each, as a task of its own has. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Dispatch, NewDispatch } from '../../src/domain/dispatch.ts'
import { commitOne, type Store } from '../../src/ports/store.ts'

/** Dispatches of one commit. */
const CHUNK = 5000

/** The prompt of a dispatch that was sent alone. */
const SENT = 'sent at '

export const sentAtOf = ({ prompt }: Pick<Dispatch, 'prompt'>): number =>
  prompt.startsWith(SENT) ? Number(prompt.slice(SENT.length)) : 0

const newDispatch = (folder: string, prompt: string): NewDispatch => {
  const dispatch_id = randomUUID()
  return {
    ...{ dispatch_id, session_id: `default-${dispatch_id}`, kernel_id: 'default', agent_id: 'default', prompt },
    ...{ priority: 0, metadata: {}, source: 'bench', workspace: join(folder, dispatch_id) },
  }
}

export async function fillStore(store: Store, folder: string, jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= CHUNK) {
    const dispatches = Array.from({ length: Math.min(left, CHUNK) }, () => newDispatch(folder, 'Answer.'))
    await commitOne(store, [{ op: 'enqueue', dispatches, now: Date.now() }])
  }
}

export async function sendToStore(store: Store, folder: string, sentAt: number): Promise<void> {
  const dispatches = [newDispatch(folder, `${SENT}${sentAt}`)]
  await commitOne(store, [{ op: 'enqueue', dispatches, now: Date.now() }])
}
