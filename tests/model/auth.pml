/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of the handshake of two ends that share a key: krdma/noise.h and
 * krdma/door.h. No module of krdma does the handshake yet, so the rules of the
 * server are only here.
 *
 * A client connects twice, because its first connection is lost. The server
 * makes an object for each request that it takes, and answers it with a new
 * ephemeral key. When an object is proved, the server ends the connection of an
 * older object, and never that of a newer one.
 *
 * The network is an attacker without the key. It delivers requests, replies and
 * AUTHs that were sent, in any order, some of them several times and some of
 * them never. It changes the level of a request, and sends requests of its own.
 * Tags cannot be forged, so a message fits only the end that has the same key,
 * ephemeral keys and prologue.
 *
 * S1: an object is made only for a request that was tagged with the key, and
 *     only a client with the key is connected.
 * S2: a connection ends only when a later connect of its client is proved.
 * S3: two ends that are connected agree on each other and on the level, and no
 *     other end has the same peer.
 *
 * variant NO_DOOR S1: the server makes an object for a request without a tag
 * variant END_OLDER_EARLY S2: the older connection ends when a request arrives
 * variant OLDER_ENDS_NEWER S2: the connection of a newer object also ends
 * variant E_REUSED S3: the server answers all requests with the same ephemeral key
 * variant LEVEL_FREE S3: neither the tag nor the prologue covers the level
 */
#include "model.h"

#define CLIENTS 2		/* connects of the client, one after the other */
#define SERVERS 3		/* objects of the server */
#define NONE 7
#define EVIL 6			/* a request of the attacker */

/* Levels of a request. Both ends want HIGH. */
#define HIGH 1
#define LOW 0

#ifdef LEVEL_FREE
#define COVERED(level) HIGH
#else
#define COVERED(level) level
#endif
#ifdef E_REUSED
#define EPHEMERAL(server) 0
#else
#define EPHEMERAL(server) server
#endif

/* REQ of each connect: sent or not. Connects that the client has given up, or has lost. */
bool req[CLIENTS];
bool over[CLIENTS];

/* REP of each object: the connect, the level and the ephemeral key that its tag covers. */
typedef reply {
	bool sent;
	byte connect;
	byte level;
	byte e;
};
reply rep[SERVERS];

/* AUTH of each connect: the level and the ephemeral key of the server that its tag covers. */
typedef proof {
	bool sent;
	byte level;
	byte e;
};
proof auth[CLIENTS];

/* Objects of the server: the connect that each of them believes, and its level. */
byte objects;
byte claimed[SERVERS] = NONE;
byte wants[SERVERS];
bool proved[SERVERS];
byte up = NONE;			/* object of the connection that is up */

/* The object with which each connect believes to speak. */
byte peer[CLIENTS] = NONE;

/* The client connects again at any time. Its first connect is then over. */
active proctype client()
{
	byte i;

	do
	:: i < CLIENTS ->
		req[i] = true;
		d_step { over[i] = (i + 1 < CLIENTS); i++ }
	:: else -> break
	od
}

#ifdef OLDER_ENDS_NEWER
#define ENDS(object) (up != NONE)
#else
#define ENDS(object) (up != NONE && up < object)
#endif

/* An older connection of the client ends, because it has connected again. */
inline end_older(object)
{
	if
	:: ENDS(object) ->
		S2 = proved[object] && claimed[object] >= claimed[up];
		assert(S2);
		up = NONE
	:: else
	fi
}

/* The server takes a request that says the connect and the level, and that has a tag or not. */
inline take(c, l, t)
{
	if
#ifdef NO_DOOR
	:: objects < SERVERS ->
#else
	:: objects < SERVERS && t ->
#endif
		S1 = t;
		assert(S1);
		claimed[objects] = c;
		wants[objects] = l;
		rep[objects].sent = true;
		rep[objects].connect = c;
		rep[objects].level = COVERED(l);
		rep[objects].e = EPHEMERAL(objects);
#ifdef END_OLDER_EARLY
		end_older(objects);
#endif
		objects++
	:: else
	fi
}

/* The client gets the reply of an object. It takes only the first one that fits. */
inline answer(i, object)
{
	if
	:: req[i] && !over[i] && !auth[i].sent && rep[object].sent &&
	   rep[object].connect == i && rep[object].level == COVERED(HIGH) ->
		peer[i] = object;
		auth[i].level = rep[object].level;
		auth[i].e = rep[object].e;
		auth[i].sent = true
	:: else
	fi
}

/* An object of the server gets the AUTH of a connect. */
inline prove(object, i)
{
	if
	:: object < objects && !proved[object] && auth[i].sent &&
	   claimed[object] == i && auth[i].e == rep[object].e &&
	   auth[i].level == rep[object].level ->
		proved[object] = true;
		S1 = (claimed[object] != EVIL);
		assert(S1);
		S3 = (peer[i] == object && wants[object] == HIGH);
		assert(S3);
		end_older(object);
		if
		:: up == NONE -> up = object
		:: else		/* a newer object was proved before, so this one ends */
		fi
	:: else
	fi
}

active proctype network()
{
	byte i, object;

	do
	:: true ->
		if
		:: i = 0
		:: i = 1
		fi;
		if
		:: object = 0
		:: object = 1
		:: object = 2
		fi;
		if
		:: d_step { req[i] -> take(i, HIGH, true) }
		/* The attacker has changed the level, so the tag fits only if it does not cover the level. */
		:: d_step { req[i] -> take(i, LOW, COVERED(LOW) == COVERED(HIGH)) }
		:: d_step { take(EVIL, HIGH, false) }
		:: d_step { answer(i, object) }
		:: d_step { prove(object, i) }
		fi
	:: break
	od
}
