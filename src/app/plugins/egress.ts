/** Plugin `egress`: the only way to the network, with the owner's rules. */

import { createEgress } from '../../adapters/egress/egress.ts'
import { systemResolver } from '../../adapters/egress/resolve-host.ts'
import { newSecret } from '../../adapters/system/ids.ts'
import { readableHosts } from '../../config.ts'
import { createEgressRules, ownerAddressRules } from '../../policy/egress.ts'
import type { Resolver } from '../../ports/egress.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

export function egress(resolve: Resolver = systemResolver): Plugin {
  return definePlugin({
    name: 'egress',
    needs: ['config', 'clock'],
    provides: ['egress'],
    setup(host) {
      const config = host.get('config')
      const rules = createEgressRules(() => readableHosts(config.loaded.config))
      const clock = host.get('clock')
      host.provide(
        'egress',
        createEgress({ rules, ownersRules: ownerAddressRules(rules), resolve, clock, secret: newSecret }),
      )
    },
  })
}
