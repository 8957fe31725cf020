/** Plugin `skills`: skills, their approval, and the tool that reads them. */

import { createSkills } from '../../adapters/skills/skills.ts'
import { readSkill } from '../../adapters/tools/read-skill.ts'
import { SHIPPED_AGENTS } from '../../config.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

export function skills(): Plugin {
  return definePlugin({
    name: 'skills',
    needs: ['home', 'storedPaths', 'clock', 'store', 'tools'],
    provides: ['skills'],
    setup(host) {
      const { root: home, agents } = host.get('home')
      const made = createSkills({
        home,
        agents,
        paths: host.get('storedPaths'),
        shipped: [SHIPPED_AGENTS],
        store: host.get('store'),
        clock: host.get('clock'),
      })
      host.provide('skills', made)
      host.get('tools').add(readSkill(made.read))
    },
  })
}
