/**
 * Notes to the owner about edits of kernel documents that are not in use yet: without a sandbox, the owner has to
 * accept them first.
 * Must not know: how edits are found, where notes go.
 */

import type { DocumentName } from '../../domain/document.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'

export const pendingEditNotes = (waiting: readonly DocumentName[]): readonly OwnerNote[] =>
  waiting.map((name) => ({
    about: `edit of ${name}`,
    text:
      `${name} was edited as a file, but the edit is not in use because the sandbox is off. ` +
      'Review it: tireless state diff. Accept it: tireless state accept',
    zh: `${name} 文件已被修改，但尚未生效：沙箱已关闭。查看：tireless state diff；接受：tireless state accept`,
  }))
