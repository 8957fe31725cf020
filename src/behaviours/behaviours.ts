/** The behaviours there are, by name. An agent begins with `solo` unless its dispatch asks for another. */

import { TirelessError } from '../domain/error.ts'
import type { Behaviour, Behaviours } from '../ports/behaviour.ts'

export function namedBehaviours(all: () => ReadonlyMap<string, Behaviour>, first: string): Behaviours {
  return {
    get(agentId, name = first) {
      const behaviour = all().get(name)
      if (behaviour) return behaviour
      throw new TirelessError('not_found', {
        what: `the agent ${agentId} has no such behaviour`,
        got: name,
        expected: `one of ${[...all().keys()].join(', ')}`,
      })
    },
  }
}
