/** Leaders in the table of settings: one row per name, with the epoch of the worker that leads, and its token. */

import type { Leader } from '../../ports/store/queue.ts'
import type { LeaderFence } from '../../ports/store.ts'
import { RefusedBatch } from './refuse-batch.ts'

export const leaderSetting = (name: string): string => `leader ${name}`

/** `value`: of the setting; undefined if there is none. */
export function parseLeader(value: unknown): Leader | undefined {
  if (value === undefined || value === null) return undefined
  const { epoch, token } = JSON.parse(String(value)) as Partial<Leader>
  if (Number.isSafeInteger(epoch) && Number.isSafeInteger(token)) return { epoch: Number(epoch), token: Number(token) }
  throw new RefusedBatch('row_unreadable', `the stored leader is not readable: ${String(value)}`)
}

/** The refusal of a batch that only the leader may write. */
export function checkLeader({ name, token }: LeaderFence, found: Leader | undefined): void {
  if (found?.token === token) return
  const now = found ? `now worker ${found.epoch} leads with token ${found.token}` : 'no worker has led yet'
  throw new RefusedBatch('store_fenced', `this process does not lead ${name} with token ${token} (${now})`)
}

/** No worker has the epoch 0. The new token refuses what the one that led may still write. */
export const afterResignation = ({ token }: Leader): Leader => ({ epoch: 0, token: token + 1 })

export const endedEpoch = (epoch: number): RefusedBatch =>
  new RefusedBatch('store_fenced', `worker epoch ${epoch} has ended and cannot lead`)
