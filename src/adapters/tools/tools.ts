/** The built-in tools. */

import type { Documents } from '../../ports/documents.ts'
import type { Egress } from '../../ports/egress.ts'
import type { Postbox } from '../../ports/postbox.ts'
import type { Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { askUser } from './ask-user.ts'
import { bash, type Surroundings } from './bash.ts'
import { browser } from './browser/browser.ts'
import type { Launching } from './browser/launch.ts'
import { createFile } from './create-file.ts'
import { editFile } from './edit-file.ts'
import { editState } from './edit-state.ts'
import { fetch } from './fetch.ts'
import { finish } from './finish.ts'
import { forget } from './forget.ts'
import { git } from './git/git.ts'
import { listFiles } from './list-files.ts'
import { readState } from './read-state.ts'
import { recall } from './recall.ts'
import { remember } from './remember.ts'
import { searchFiles } from './search-files.ts'
import { sendMessage } from './send-message.ts'
import { viewFile } from './view-file.ts'
import { wait } from './wait.ts'

export type { Launching } from './browser/launch.ts'

const SHUT: Surroundings = { where: 'sandbox' }

/** `shell`: what commands run in. */
export function builtinTools(shell: Surroundings = SHUT): AnyTool[] {
  return [viewFile, createFile, editFile, listFiles, searchFiles, bash(shell), wait, finish]
}

/** Those that reach the network. */
export function webTools(egress: Egress): AnyTool[] {
  return [fetch(egress), git(egress)]
}

/** Those that are offered to agents that name them. */
export function namedTools(launching: Launching | undefined): AnyTool[] {
  return launching ? [browser(launching)] : []
}

/** Those by which an agent speaks to people. */
export function messageTools(postbox: Postbox): AnyTool[] {
  return [sendMessage(postbox), askUser(postbox)]
}

/** Those by which an agent remembers over its sessions. */
export function memoryTools(store: Store): AnyTool[] {
  return [remember(store), recall(store), forget(store)]
}

/** Those by which an agent knows and changes what all agents know. `seed`: what STATE.md begins with. */
export function stateTools(documents: Documents, seed: () => string): AnyTool[] {
  return [readState(documents), editState(documents, seed)]
}
