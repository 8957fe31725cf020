/**
 * Waiting documents: tells the owner of edits that are not in use, because the sandbox is off and they have to be accepted.
 * Must not know: how edits are found, where notes go.
 */

import type { DocumentName } from '../domain/document.ts'
import type { Note } from '../domain/note.ts'

export const waitingNotes = (waiting: readonly DocumentName[]): readonly Note[] =>
  waiting.map((name) => ({
    about: `edit of ${name}`,
    text: `${name} was edited as a file, and the edit is not in use: the sandbox is off. Look: tireless state diff. To accept it: tireless state accept`,
    zh: `${name} 文件已被修改，但尚未生效：沙箱已关闭。查看：tireless state diff；接受：tireless state accept`,
  }))
