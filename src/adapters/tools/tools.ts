/** The built-in tools. */

import type { Documents } from '../../ports/documents.ts'
import type { Egress } from '../../ports/egress.ts'
import type { MessageRouter } from '../../ports/message-router.ts'
import type { MessageSender } from '../../ports/message-sender.ts'
import { NO_SECRETS, type Secrets } from '../../ports/secrets.ts'
import type { Store } from '../../ports/store.ts'
import type { SubAgents } from '../../ports/sub-agents.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { askUser } from './ask-user.ts'
import { bash, type ShellOptions } from './bash.ts'
import { browser } from './browser/browser.ts'
import type { BrowserLaunch } from './browser/launch-chromium.ts'
import { createFile } from './create-file.ts'
import { editFile } from './edit-file.ts'
import { editState } from './edit-state.ts'
import { fetchTool } from './fetch.ts'
import { finishTool } from './finish.ts'
import { forget } from './forget.ts'
import { git } from './git/git.ts'
import { listFiles } from './list-files.ts'
import { readState } from './read-state.ts'
import { recall } from './recall.ts'
import { remember } from './remember.ts'
import { route } from './route.ts'
import { searchFiles } from './search-files.ts'
import { sendMessage } from './send-message.ts'
import { spawnAgent } from './spawn-agent.ts'
import { viewFile } from './view-file.ts'
import { waitTool } from './wait.ts'
import type { SearchAccess } from './web-search/providers.ts'
import { webSearch } from './web-search/web-search.ts'

export type { BrowserLaunch as Launching } from './browser/launch-chromium.ts'
export { residentTools } from './resident-actions.ts'

const NO_NETWORK: ShellOptions = { where: 'sandbox' }

/** `shell`: where commands run, and which hosts they can reach. */
export function builtinTools(shell: ShellOptions = NO_NETWORK): AnyTool[] {
  return [viewFile, createFile, editFile, listFiles, searchFiles, bash(shell), waitTool, finishTool]
}

/** Tools that use the network. */
export function webTools(egress: Egress): AnyTool[] {
  return [fetchTool(egress), git(egress)]
}

/** Contract: no tool if the owner configured no web search. */
export function searchTools(egress: Egress, access: (() => SearchAccess) | undefined): AnyTool[] {
  return access ? [webSearch(egress, access)] : []
}

/** Tools only for agents whose configuration lists them. `launching`: undefined if there is no Chromium. */
export function optionalTools(launching: BrowserLaunch | undefined): AnyTool[] {
  return launching ? [browser(launching)] : []
}

/** Tools that send messages to people. */
export function messageTools(postbox: MessageSender): AnyTool[] {
  return [sendMessage(postbox), askUser(postbox)]
}

/** Tools of the agent that people talk with. */
export function conversationTools(router: MessageRouter): AnyTool[] {
  return [route(router)]
}

/** Tools with which a run starts other runs. */
export function subAgentTools(agents: SubAgents): AnyTool[] {
  return [spawnAgent(agents)]
}

/** Tools for facts that an agent keeps across sessions. */
export function memoryTools(store: Store): AnyTool[] {
  return [remember(store), recall(store), forget(store)]
}

/** Tools for STATE.md, which all agents share. `seed`: the text that STATE.md gets if it does not exist yet. */
export function stateTools(
  documents: Documents,
  seed: () => string,
  findHidden: Secrets['find'] = NO_SECRETS.find,
): AnyTool[] {
  return [readState(documents), editState(documents, seed, findHidden)]
}
