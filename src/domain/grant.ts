/** Grant: a standing word of the owner: that tool, to there, without being asked. */

export interface Grant {
  readonly id: string
  readonly tool: string
  /** Null: of any agent. */
  readonly agent_id: string | null
  /** Null: in any session. */
  readonly session_id: string | null
  /** Where it may go; `*` stands for anything within one. Empty: it goes nowhere in particular. */
  readonly to: readonly string[]
  /** Only with exactly these arguments: their digest. */
  readonly args: string | null
  readonly granted_at: string
  readonly expires_at: string | null
}

/** A call as grants are held against it. */
export interface Grantable {
  readonly tool: string
  readonly agent_id: string
  readonly session_id: string
  readonly destinations: readonly string[]
  readonly args: string
}

export function isGrantedBy(grant: Grant, call: Grantable, now: number): boolean {
  return (
    grant.tool === call.tool &&
    (grant.agent_id === null || grant.agent_id === call.agent_id) &&
    (grant.session_id === null || grant.session_id === call.session_id) &&
    (grant.args === null || grant.args === call.args) &&
    (grant.expires_at === null || now < Date.parse(grant.expires_at)) &&
    // What says nowhere where it goes is not what was granted for a place.
    (call.destinations.length > 0 || grant.to.length === 0) &&
    call.destinations.every((destination) => grant.to.some((pattern) => fits(pattern, destination)))
  )
}

function fits(pattern: string, destination: string): boolean {
  const parts = normalized(pattern)
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(normalized(destination))
}

const normalized = (text: string): string => text.normalize('NFKC').trim().toLowerCase()
