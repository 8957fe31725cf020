/** The plugin of this process that stands for a sandboxed one: it adds a proxy for each thing that was approved. */

import { TirelessError } from '../../../domain/error.ts'
import { describeValue, type Json } from '../../../domain/json.ts'
import { findPriceProblem } from '../../../domain/limits.ts'
import { type PluginManifest, pluginLabel, SANDBOXED_KINDS } from '../../../domain/plugin-manifest.ts'
import type { Plugin } from '../../../ports/plugin.ts'
import type { PluginClient } from './plugin-client.ts'
import { type Offers, offersSchema } from './protocol.ts'
import { channelProxy, criticProxy, gateProxy, modelProviderProxy, sourceProxy, toolProxy } from './proxies.ts'

/** Contract: throws `plugin_invalid` if the plugin offers what its manifest does not list, or an impossible price. */
export function checkOffers({ name, provides }: PluginManifest, offers: Offers): void {
  for (const kind of SANDBOXED_KINDS) {
    const listed = provides?.[kind] ?? []
    const extra = offers[kind].find((offer) => !listed.includes(offer.name))
    if (extra)
      throw new TirelessError('plugin_invalid', {
        ...{ what: `the plugin adds to ${kind} what its manifest does not list`, where: pluginLabel(name) },
        ...{ got: extra.name, expected: listed.join(', ') || 'nothing', fix: `list it under provides.${kind}` },
      })
  }
  for (const provider of offers.modelProviders)
    for (const { name: model, price } of provider.models) {
      const problem = price && findPriceProblem(price)
      if (problem)
        throw new TirelessError('plugin_invalid', {
          ...{ what: `invalid price of the model ${provider.name}/${model}`, where: pluginLabel(name) },
          ...{ got: `${problem.member}: ${describeValue(problem.value)}`, expected: problem.expected },
        })
    }
}

/** `approved`: what the plugin offered when the owner approved it. */
export function sandboxedPlugin(manifest: PluginManifest, approved: Json, client: PluginClient): Plugin {
  const { success, data: offers } = offersSchema.safeParse(approved)
  if (!success)
    throw new TirelessError('plugin_unapproved', {
      ...{ what: 'its approval is of another version of Tireless', where: pluginLabel(manifest.name) },
      fix: `run \`tireless plugins approve ${manifest.name}\``,
    })
  return {
    name: manifest.name,
    needs: SANDBOXED_KINDS.filter((kind) => offers[kind].length > 0),
    setup(host) {
      if (offers.tools.length > 0)
        host.get('tools').add(...offers.tools.map((offer) => toolProxy(offer, manifest, client)))
      if (offers.gates.length > 0) host.get('gates').add(...offers.gates.map((offer) => gateProxy(offer, client)))
      if (offers.critics.length > 0)
        host.get('critics').add(...offers.critics.map((offer) => criticProxy(offer, client)))
      if (offers.channels.length > 0)
        host.get('channels').add(...offers.channels.map((offer) => channelProxy(offer, client)))
      if (offers.sources.length > 0)
        host.get('sources').add(...offers.sources.map((offer) => sourceProxy(offer, client)))
      if (offers.modelProviders.length > 0)
        host.get('modelProviders').add(...offers.modelProviders.map((offer) => modelProviderProxy(offer, client)))
    },
    stop: () => client.close(),
  }
}
