/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.h - AEAD ops with all that belongs to one, and what must come of each by
 * the oracle of the model test. For tests of many back ends.
 */
#ifndef TEST_SEALED_H
#define TEST_SEALED_H

#include "../model/oracle.h"
#include "messages.h"

#define SEALED_MAX 2048 /* bytes of text */
#define SEALED_AAD 20
#define SEALED_TAG 16

struct sealed {
	struct afb_op op;
	struct iovec in, out;
	uint8_t iv[12];
	uint8_t data[SEALED_AAD + SEALED_MAX + SEALED_TAG];
	uint8_t result[SEALED_MAX + SEALED_TAG];
	uint8_t right[SEALED_MAX + SEALED_TAG];
	bool ended;
};

/* AES-128-GCM under one key, by the kernel's name for it or a driver's. */
struct afb_session *gcm_session(const char *name, enum afb_backend backend);

/*
 * The same by a driver that goes on working when the submitting call has returned,
 * if @queue leads to a kernel that has one.
 */
struct afb_session *async_gcm_session(const struct afb_queue *queue);

/* Message number @n of so many bytes, each with its own IV and text. */
void seal(struct sealed *sealed, struct afb_session *session,
	  enum afb_kind kind, unsigned n, size_t len);

/* Submits all, as room comes, and reaps all; every op exactly once. */
void run_sealed(struct afb_queue *queue, struct sealed *sealed, unsigned count);

/* How far reaping has come, for a test that submits by itself. */
void reap_sealed(struct afb_queue *queue, unsigned count);

void expect_sealed(const struct sealed *sealed, unsigned count);

#endif
