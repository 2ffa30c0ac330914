// SPDX-License-Identifier: GPL-2.0-only
/*
 * jrsim: a crypto engine with a job ring that exists in software only, to test
 * and to count with what needs an engine. README.md has its parameters.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "jrsim.h"

static struct dentry *debugfs;

static void stop_ring(void)
{
	debugfs_remove_recursive(debugfs);
	jrsim_ring_exit();
}

/**
 * jrsim_tested() - wait for the kernel's self-tests of an algorithm
 * @driver: its driver name
 *
 * 6.12 runs them behind the registration, and an algorithm can only be
 * unregistered when they are over.
 *
 * Return: 0, or -ENODEV when it did not pass.
 */
int jrsim_tested(const char *driver)
{
	return crypto_has_alg(driver, 0, 0) ? 0 : -ENODEV;
}

static int __init register_algorithms(void)
{
	int err = jrsim_hash_register();

	if (err)
		return err;
	err = jrsim_skcipher_register();
	if (err)
		goto unregister_hash;
	err = jrsim_aead_register();
	if (err)
		goto unregister_skcipher;
	return 0;

unregister_skcipher:
	jrsim_skcipher_unregister();
unregister_hash:
	jrsim_hash_unregister();
	return err;
}

static int __init jrsim_init(void)
{
	int err;

	debugfs = debugfs_create_dir("jrsim", NULL);
	err = jrsim_ring_init(debugfs);
	if (err) {
		debugfs_remove_recursive(debugfs);
		return err;
	}
	err = register_algorithms();
	if (err)
		stop_ring();
	return err;
}

static void __exit jrsim_exit(void)
{
	jrsim_aead_unregister();
	jrsim_skcipher_unregister();
	jrsim_hash_unregister();
	stop_ring();
}

module_init(jrsim_init);
module_exit(jrsim_exit);

MODULE_DESCRIPTION("Simulated job-ring crypto engine, for tests");
MODULE_LICENSE("GPL");
