/** Grant: a standing permission of the owner for a tool and its destinations, so that calls need no approval. */

export interface Grant {
  readonly id: string
  readonly tool: string
  /** Null: any agent. */
  readonly agent_id: string | null
  /** Null: any session. */
  readonly session_id: string | null
  /**
   * Allowed destinations: a name, a host (which allows reading), or a URL; if the call has a method, the method comes
   * first (`POST https://…`). `*` matches within one name, `**` also across slashes. Empty: the grant is for calls
   * without a destination.
   */
  readonly to: readonly string[]
  /** Digest of the only arguments allowed; null: any arguments. */
  readonly args: string | null
  readonly granted_at: string
  readonly expires_at: string | null
}

/** The parts of a call that grants are compared with. */
export interface GrantableCall {
  readonly tool: string
  readonly agent_id: string
  readonly session_id: string
  /** The action, for tools whose actions differ in harm. */
  readonly method?: string | undefined
  readonly destinations: readonly string[]
  readonly args: string
}

export function isGrantedBy(grant: Grant, call: GrantableCall, now: number): boolean {
  return (
    grantAppliesTo(grant, call, now) &&
    (grant.args === null || grant.args === call.args) &&
    // A grant for certain destinations does not cover a call that names none.
    (call.destinations.length > 0 || grant.to.length === 0) &&
    call.destinations.every((destination) => grantCoversDestination(grant, destination, call.method))
  )
}

/** True if tool, agent, session and time match; arguments and destinations are not compared. */
export function grantAppliesTo(grant: Grant, call: Omit<GrantableCall, 'destinations' | 'args'>, now: number): boolean {
  return (
    grant.tool === call.tool &&
    (grant.agent_id === null || grant.agent_id === call.agent_id) &&
    (grant.session_id === null || grant.session_id === call.session_id) &&
    (grant.expires_at === null || now < Date.parse(grant.expires_at))
  )
}

export const grantCoversDestination = ({ to }: Pick<Grant, 'to'>, destination: string, method?: string): boolean =>
  to.some((pattern) => matchesPattern(pattern, formatGrantTarget(destination, method)))

/** The destination in the form in which grants name it: after the method, if there is one. */
export const formatGrantTarget = (destination: string, method?: string): string =>
  method === undefined ? destination : `${method} ${destination}`

/** What `*` matches: characters within one name, so that `*@home.test` matches a single recipient. */
const NAME_CHARACTERS = String.raw`[^\s,;|<>"'()@/?&\\]*`
const PATH_CHARACTERS = String.raw`[^\s,;|<>"'()\\]*`

function matchesPattern(pattern: string, destination: string): boolean {
  const parts = normalise(pattern)
    .split(/(\*\*?)/)
    .map((part) =>
      part === '**'
        ? PATH_CHARACTERS
        : part === '*'
          ? NAME_CHARACTERS
          : part.replaceAll(/[.+?^${}()|[\]\\/]/g, String.raw`\$&`),
    )
  const regex = new RegExp(`^${parts.join('')}$`, 's')
  const host = /^https?:\/\/([^/?#]*)/i.exec(destination)?.[1]
  // A grant for a host allows reading any of its pages.
  return (
    regex.test(normalise(destination)) || (host !== undefined && !pattern.includes('/') && regex.test(normalise(host)))
  )
}

/** In a URL only the host is case-insensitive; the path is compared exactly. */
function normalise(text: string): string {
  const plain = text.normalize('NFKC').trim()
  const [head] = /^(?:[^\s/]+ )?[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(plain) ?? []
  if (head === undefined) return plain.toLowerCase()
  const rest = plain.slice(head.length)
  return head.toLowerCase() + (rest === '' ? '/' : rest)
}
