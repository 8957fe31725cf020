/** Why this machine cannot run an agent: another operating system, or no Chromium. */

import type { Agent, Platform } from '../domain/agent.ts'
import type { Issue } from '../domain/decision.ts'

const NAMES: Readonly<Record<Platform, string>> = { linux: 'Linux', macos: 'macOS', windows: 'Windows' }
const PLATFORMS: Readonly<Record<string, Platform>> = { linux: 'linux', darwin: 'macos', win32: 'windows' }

/** `platform`: as in `process.platform`. Contract: empty if the agent can run; pure. */
export function findAgentIssues(
  { agent_id, platform, tools }: Pick<Agent, 'agent_id' | 'platform' | 'tools'>,
  machine: { readonly platform: string; readonly hasTool: (tool: string) => boolean },
): readonly Issue[] {
  const here = PLATFORMS[machine.platform]
  const issues: Issue[] = []
  if (platform && platform !== here)
    issues.push({
      code: 'ENV_PLATFORM_MISSING',
      message:
        `the agent ${agent_id} needs a worker on ${NAMES[platform]}; got ${here ? NAMES[here] : machine.platform}. ` +
        `Give it this task in a home on ${NAMES[platform]}`,
    })
  if (tools?.includes('browser') && !machine.hasTool('browser'))
    issues.push({
      code: 'ENV_TOOL_MISSING',
      message: `the agent ${agent_id} needs a Chromium, and there is none. Install one, or set $CHROMIUM to its path`,
    })
  return issues
}
