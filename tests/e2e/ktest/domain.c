// SPDX-License-Identifier: GPL-2.0
/* Domains of krdma. The first use of the option domain=N creates domain N. */
#include <linux/mutex.h>

#include "priv.h"

#define KTEST_DOMAINS 4

static struct krdma_domain *ktest_domains[KTEST_DOMAINS];
static DEFINE_MUTEX(ktest_domains_lock); /* protects ktest_domains */

/*
 * Return domain @i, which is created at the first call. The command undomain,
 * or unloading the module, puts the reference to the domain.
 */
struct krdma_domain *ktest_domain(u32 i)
{
	struct krdma_domain *domain;

	if (i >= KTEST_DOMAINS)
		return ERR_PTR(-EINVAL);
	mutex_lock(&ktest_domains_lock);
	domain = ktest_domains[i] ?: krdma_domain_create("krdma_test");
	if (!IS_ERR(domain))
		ktest_domains[i] = domain;
	mutex_unlock(&ktest_domains_lock);
	return domain;
}

void ktest_domains_end(void)
{
	u32 i;

	mutex_lock(&ktest_domains_lock);
	for (i = 0; i < KTEST_DOMAINS; i++) {
		krdma_domain_put(ktest_domains[i]);
		ktest_domains[i] = NULL;
	}
	mutex_unlock(&ktest_domains_lock);
}

/* undomain: put all domains; connections in these domains continue */
int ktest_cmd_undomain(struct ktest_ctx *ctx, struct ktest_args *args)
{
	ktest_domains_end();
	return 0;
}
