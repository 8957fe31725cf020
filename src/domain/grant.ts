/** Grant: a standing word of the owner: that tool, to there, without being asked. */

export interface Grant {
  readonly id: string
  readonly tool: string
  /** Null: of any agent. */
  readonly agent_id: string | null
  /** Null: in any session. */
  readonly session_id: string | null
  /**
   * Where it may go, and lead: a name, a host (which may be read), or an address; before it the method, where the call has one (`POST https://…`).
   * `*` stands for anything within one name, `**` also for slashes. Empty: it goes nowhere in particular.
   */
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
  /** What it does there, where it is not merely asked for or sent. */
  readonly method?: string | undefined
  readonly destinations: readonly string[]
  readonly args: string
}

export function isGrantedBy(grant: Grant, call: Grantable, now: number): boolean {
  return (
    holdsFor(grant, call, now) &&
    (grant.args === null || grant.args === call.args) &&
    // What says nowhere where it goes is not what was granted for a place.
    (call.destinations.length > 0 || grant.to.length === 0) &&
    call.destinations.every((destination) => leadsTo(grant, destination, call.method))
  )
}

/** Whether it is for whoever makes the call, whatever the call is. */
export function holdsFor(grant: Grant, call: Omit<Grantable, 'destinations' | 'args'>, now: number): boolean {
  return (
    grant.tool === call.tool &&
    (grant.agent_id === null || grant.agent_id === call.agent_id) &&
    (grant.session_id === null || grant.session_id === call.session_id) &&
    (grant.expires_at === null || now < Date.parse(grant.expires_at))
  )
}

export const leadsTo = ({ to }: Pick<Grant, 'to'>, destination: string, method?: string): boolean =>
  to.some((pattern) => fits(pattern, grantText(destination, method)))

/** As a grant names it. */
export const grantText = (destination: string, method?: string): string =>
  method === undefined ? destination : `${method} ${destination}`

/** Between two of these stands one name: whoever grants `*@home.test` has one person in mind. */
const NAME = String.raw`[^\s,;|<>"'()@/?&\\]*`
const NAMES = String.raw`[^\s,;|<>"'()\\]*`

function fits(pattern: string, destination: string): boolean {
  const parts = comparable(pattern)
    .split(/(\*\*?)/)
    .map((part) =>
      part === '**' ? NAMES : part === '*' ? NAME : part.replaceAll(/[.+?^${}()|[\]\\/]/g, String.raw`\$&`),
    )
  const shape = new RegExp(`^${parts.join('')}$`, 's')
  const host = /^https?:\/\/([^/?#]*)/i.exec(destination)?.[1]
  // Who grants a host has granted to read there.
  return (
    shape.test(comparable(destination)) ||
    (host !== undefined && !pattern.includes('/') && shape.test(comparable(host)))
  )
}

/** In an address only the host may be written in any case; what stands behind it is what it is. */
function comparable(text: string): string {
  const plain = text.normalize('NFKC').trim()
  const [head] = /^(?:[^\s/]+ )?[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(plain) ?? []
  if (head === undefined) return plain.toLowerCase()
  const rest = plain.slice(head.length)
  return head.toLowerCase() + (rest === '' ? '/' : rest)
}
