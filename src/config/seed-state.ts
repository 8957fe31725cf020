/** What STATE.md begins with if `kernel.seed_state` is not set. */

/** For a home of the user's own: they say who they are. */
export const OWN_STATE = `# Kernel State
## identity
(Write here who you are and what your agents should know. They read this file in every run.)
## recent_actions
(none yet)
`

/** For a configuration as elephant.ai writes it (requirement E2). */
const ELEPHANT_STATE = `# Kernel State
## identity
elephant.ai autonomous kernel — founder mindset.
永不询问、永不等待、只派发任务、记录状态、做总结、思考规划。
## recent_actions
(none yet)
`

interface StateReader {
  readonly prompt: string
}

/** Contract: `agents` are those of tireless.yaml itself. elephant.ai keeps them there, with prompts in Chinese. */
export function defaultState(agents: readonly StateReader[]): string {
  const isElephant = agents.some(({ prompt }) => prompt.includes('{STATE}') && /\p{Script=Han}/u.test(prompt))
  return isElephant ? ELEPHANT_STATE : OWN_STATE
}
