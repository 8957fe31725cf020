/** Removes a part of the configuration with the secret that a command stored for it, and says what is left. */

import { z } from 'zod'
import type { PeopleText } from '../../domain/language.ts'
import { tellKept } from './bring-back.ts'
import type { Needs } from './context.ts'
import type { Progress } from './progress.ts'

export const removedPartShape = {
  secret_removed: z.boolean().describe('whether the secret that was stored with it is deleted'),
  secrets_left: z.array(z.string()).describe('secrets that it referred to, and that you set or use elsewhere'),
  kept: z.string().nullable().describe('the configuration file from before'),
}

type Tell = (progress: Progress) => void

/** Contract: nothing is removed if the configuration would be invalid without the part. */
export function removePart(
  { changeConfig, secrets }: Needs<'changeConfig' | 'secrets'>,
  path: readonly string[],
  tell: Tell,
): { secret_removed: boolean; secrets_left: string[]; kept: string | null } {
  const part = path.join('.')
  const isOfPart = (key: string): boolean => key.startsWith(`${part}.`)
  const referred = secrets.list().flatMap(({ name, used_by }) => (used_by.some(isOfPart) ? name : []))
  const kept = changeConfig([{ path, value: undefined }])
  const { removed, stays } = secrets.removeFor(part, referred)
  tellKept(tell, kept)
  if (stays.length > 0) tell({ kind: 'note', ...STAYS(stays.join(', ')) })
  return { secret_removed: removed.length > 0, secrets_left: stays, kept }
}

const STAYS = (names: string): PeopleText => ({
  text: `Left: ${names}, because you set it or something else uses it. Delete it: tireless secrets remove NAME`,
  zh: `保留了密钥 ${names}，因为它由你设置或仍被使用。删除：tireless secrets remove 名称`,
})

/** Says under which name a secret was stored, if another secret has the usual name. */
export function tellOtherName(tell: Tell, usual: string, name: string | null): void {
  if (name === null || name === usual) return
  tell({
    kind: 'note',
    text: `Stored as the secret ${name}: ${usual} is another secret, and stays as it is.`,
    zh: `已存为密钥 ${name}：${usual} 是另一个密钥，保持不变。`,
  })
}
